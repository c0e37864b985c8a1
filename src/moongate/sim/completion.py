"""A simulated answer in OpenAI's format: a whole completion or the deltas of a stream, with the selected faults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from moongate.payload import JsonObject
from moongate.sim.behaviours import Behaviour
from moongate.sim.conversation import SimAnswer, SimCall
from moongate.sim.markup import k2_markup, k3_markup, seam
from moongate.sim.native_calls import call_deltas, pieces, whole_calls
from moongate.sim.usage import CHARS_PER_TOKEN

REASONING_FIELD: Final = {"vllm": "reasoning", "openrouter": "reasoning"}  # elsewhere reasoning_content


@dataclass(frozen=True, slots=True)
class AnswerFields:
    """What goes into which field of the message, after the markup faults are applied."""

    reasoning: str
    content: str
    calls: tuple[SimCall, ...]


def answer_fields(answer: SimAnswer, behaviour: Behaviour) -> AnswerFields:
    """The message fields in which the reasoning, the text and the calls of an answer are sent."""
    reasoning, content = answer.reasoning, answer.text
    if behaviour.calls_in == "native":
        if behaviour.think and reasoning:
            reasoning, content = "", f"<think>{reasoning}</think>{content}"
        return AnswerFields(reasoning, content, answer.calls)
    if behaviour.calls_in == "seam" and answer.calls:
        return _seam_fields(answer, behaviour)
    calls = answer.calls if behaviour.calls_in == "both" else ()
    if behaviour.family == "k3":
        return AnswerFields(*_k3_fields(answer, behaviour), calls)
    markup = k2_markup(answer.calls, behaviour.grammar) if answer.calls else ""
    if behaviour.calls_in == "reasoning":
        return AnswerFields(reasoning + markup, content, calls)
    if behaviour.think and reasoning:
        closing = "" if behaviour.think == "open" and markup else "</think>"
        return AnswerFields("", f"<think>{reasoning}{closing}{content if closing else ''}{markup}", calls)
    return AnswerFields(reasoning, content + markup, calls)


def _seam_fields(answer: SimAnswer, behaviour: Behaviour) -> AnswerFields:
    """The markup begins in the reasoning field and goes on in content; the short text before it is left out."""
    calls = answer.calls
    markup = k3_markup("", "", calls) if behaviour.family == "k3" else k2_markup(calls)
    cut = seam(markup, calls, behaviour.seam)
    return AnswerFields(answer.reasoning + markup[:cut], markup[cut:], ())


def _k3_fields(answer: SimAnswer, behaviour: Behaviour) -> tuple[str, str]:
    if behaviour.calls_in in ("reasoning", "seam"):
        markup = k3_markup("", "", answer.calls, behaviour.grammar) if answer.calls else ""
        return answer.reasoning + markup, answer.text
    return "", k3_markup(answer.reasoning, answer.text, answer.calls, behaviour.grammar)


def limited(answer: SimAnswer, max_tokens: int) -> SimAnswer:
    """The answer as far as the tokens go: reasoning first, then the text, then the calls."""
    left = max(0, max_tokens) * CHARS_PER_TOKEN
    reasoning = answer.reasoning[:left]
    left -= len(reasoning)
    text = answer.text[:left]
    left -= len(text)
    calls = []
    for call in answer.calls:
        if left <= 0:
            break
        calls.append(replace(call, arguments=call.arguments[:left]))
        left -= len(call.arguments)
    cut = SimAnswer(text, reasoning, tuple(calls))
    return answer if cut == answer else replace(cut, cut=True)


def finish_reason(answer: SimAnswer, behaviour: Behaviour) -> str | None:
    """The finish reason to send. Calls that leak as text end with `stop`, as on the hosts that leak them."""
    if behaviour.finish == "null":
        return None
    if answer.cut:
        return "length"
    native = bool(answer.calls) and behaviour.calls_in in ("native", "both")
    if behaviour.finish == "tool_calls":
        return "tool_calls"
    if behaviour.finish and answer.calls:
        return behaviour.finish
    return "tool_calls" if native else "stop"


def completion_message(answer: SimAnswer, behaviour: Behaviour) -> JsonObject:
    """The `message` of a whole answer."""
    fields = answer_fields(answer, behaviour)
    message: JsonObject = {"role": "assistant", "content": fields.content or (None if fields.calls else "")}
    message |= _reasoning(fields.reasoning, behaviour)
    if fields.calls:
        message["tool_calls"] = whole_calls(fields.calls, behaviour)
    return message


def deltas(answer: SimAnswer, behaviour: Behaviour) -> Iterator[JsonObject]:
    """The deltas of a streamed answer, the one with the finish reason left out."""
    fields = answer_fields(answer, behaviour)
    yield {"role": "assistant", "content": "", **(_reasoning("", behaviour))}
    for piece in pieces(fields.reasoning, behaviour.piece):
        yield _reasoning(piece, behaviour)
    content = [{"content": piece} for piece in pieces(fields.content, behaviour.piece)]
    calls = [{"tool_calls": [part]} for part in call_deltas(fields.calls, behaviour)]
    # A host that sends both forms sends the text that it failed to clean last.
    yield from calls + content if behaviour.calls_in == "both" else content + calls


def _reasoning(text: str, behaviour: Behaviour) -> JsonObject:
    if not text and not behaviour.empty_reasoning:
        return {}
    field = REASONING_FIELD.get(behaviour.host, "reasoning_content")
    fields: JsonObject = {field: text}
    if behaviour.host == "openrouter":
        fields["reasoning_details"] = [{"type": "reasoning.text", "text": text, "index": 0}]
    return fields
