"""The simulated model: reads the conversation and decides what to answer next.

One call first, then two at once, then a text that names every call with its result: the text is only correct if ids,
arguments and results came back unchanged. Stateless: everything is derived from the request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from moongate.payload import JsonObject, dumps_text
from moongate.sim.answer_format import formatted
from moongate.sim.arguments import AWKWARD, arguments_for
from moongate.sim.behaviours import Behaviour
from moongate.sim.offered_tools import OfferedTool, chosen, named_tool, offered, ranked
from moongate.sim.thinking import effort_of, reasoning_for

MAX_RESULT_CHARS: Final = 160  # of a tool result or user message that the final text repeats
MAX_CHOICES: Final = 8
MAX_PLEA: Final = 500  # a longer message is an agent's, and its "do not use" is about something else
CODE_TAGS: Final = "The tags are `<think>` and `</think>`.\n```\n<|im_end|>\n```\n"
_NO_TOOLS: Final = re.compile(
    r"(?:不(?:要|用|能|准|得|许|应|该|必|可|需|会)|别|勿|禁止|无需)[^。，,.]{0,12}工具"
    r"|(?:do not|don't|should not|must not) (?:use|call) (?:any )?tools?\b|without (?:using )?(?:any )?tools?\b"
)


@dataclass(frozen=True, slots=True)
class SimCall:
    """One tool call of the simulated model. `number` counts the calls of the whole conversation."""

    name: str
    arguments: str
    number: int
    position: int  # in this answer
    custom: bool = False
    parameters: object = None  # of the tool, for damage that has to miss its schema


@dataclass(frozen=True, slots=True)
class SimAnswer:
    """One answer: a text, or calls with a short text before them."""

    text: str
    reasoning: str = ""
    calls: tuple[SimCall, ...] = ()
    cut: bool = False  # max_tokens ended it


def next_answer(request: JsonObject, behaviour: Behaviour, *, ids_from: int | None = None) -> SimAnswer:
    """The model's next answer in this conversation.

    `ids_from`: where the numbers of calls go on, if some calls of the conversation are not in this request.
    """
    messages = [m for m in request.get("messages") or [] if isinstance(m, dict)]
    made = sum(len(calls_in(m)) for m in messages)
    step = _answers_with_calls(messages)
    reasoning = reasoning_for(request, behaviour, step)
    prompt = last_user(messages)
    choice = _tool_choice(request, behaviour)
    tools = chosen(ranked(offered(request), prompt), choice)
    if tools and _calls_due(choice, behaviour, step, prompt):
        count = 1 if step == 0 or named_tool(choice) else 2
        calls = tuple(_calls(tools, made, count, behaviour, made if ids_from is None else ids_from))
        return SimAnswer("I will look." if step == 0 else "", reasoning, calls)
    text = _final(messages) if made else _reply(request, prompt)
    text = formatted(text, request.get("response_format"), prompt, made)
    prefix = CODE_TAGS if behaviour.code_tags else ""
    return SimAnswer(prefix + text, reasoning)


def for_choice(answer: SimAnswer, number: int) -> SimAnswer:
    """The same answer for another choice; only texts differ."""
    return replace(answer, text=f"{answer.text} (choice {number})") if number and not answer.calls else answer


def _tool_choice(request: JsonObject, behaviour: Behaviour) -> object:
    """The choice that counts: Moonshot passes over a named tool on K3."""
    choice = request.get("tool_choice")
    passed_over = isinstance(choice, dict) and behaviour.family == "k3" and behaviour.host == "moonshot"
    return None if passed_over else choice


def _calls_due(choice: object, behaviour: Behaviour, step: int, prompt: str) -> bool:
    """Whether calls come next, if there are tools: two answers with calls, then a text, unless the client decides."""
    if choice == "none":
        return False
    if choice == "required" or isinstance(choice, dict):
        return True
    forbidden = step == 0 and len(prompt) <= MAX_PLEA and _NO_TOOLS.search(prompt)
    return step < behaviour.answers - 1 and not forbidden


def _reply(request: JsonObject, prompt: str) -> str:
    if "thinking_effort" in prompt:
        return effort_of(request)
    return f"The Kimi simulator heard: {prompt[:MAX_RESULT_CHARS]}"


def choice_count(request: JsonObject) -> int:
    n = request.get("n")
    return min(n, MAX_CHOICES) if isinstance(n, int) and n > 1 else 1


def calls_in(message: JsonObject) -> list[JsonObject]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def text_of(content: object) -> str:
    """The text of a message's content: a string, or parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _answers_with_calls(messages: list[JsonObject]) -> int:
    """How many answers with calls came since the last one without: each final text ends a task."""
    count = 0
    for message in messages:
        if message.get("role") == "assistant":
            count = count + 1 if calls_in(message) else 0
    return count


def _calls(tools: list[OfferedTool], made: int, count: int, behaviour: Behaviour, ids_from: int) -> Iterator[SimCall]:
    # A marker inside a JSON string must not end the arguments; K3 bodies cannot hold their own markup.
    text = AWKWARD + ("<|tool_call_end|>" if behaviour.family == "k2" else "") if behaviour.awkward else ""
    for position in range(count):
        number = made + position
        tool = tools[number % len(tools)]
        arguments = dumps_text(arguments_for(tool.parameters, number, awkward=text))
        if tool.custom:
            arguments = f"input {number}"
        custom = tool.custom or behaviour.custom
        yield SimCall(tool.name, arguments, ids_from + position, position, custom, tool.parameters)


def _final(messages: list[JsonObject]) -> str:
    results = list(_results(messages))
    word = "result" if len(results) == 1 else "results"
    return f"Done, {len(results)} {word}: " + "; ".join(results)


def _results(messages: list[JsonObject]) -> Iterator[str]:
    """Each call of the conversation with its result, in order of the calls."""
    for position, message in enumerate(messages):
        calls = calls_in(message)
        answers = list(_following(messages, position + 1)) if calls else []
        for call in calls:
            function = call.get("function") or call.get("custom") or {}
            found = next((a for a in answers if a.get("tool_call_id") == call.get("id")), None)
            if found is not None:
                answers.remove(found)
            result = "(no result)" if found is None else text_of(found.get("content"))[:MAX_RESULT_CHARS]
            given = function.get("arguments", function.get("input"))
            yield f"{function.get('name')}({given}) -> {result}"


def _following(messages: list[JsonObject], start: int) -> Iterator[JsonObject]:
    for position in range(start, len(messages)):
        message = messages[position]
        if message.get("role") == "assistant":
            return
        if message.get("role") == "tool":
            yield message


def last_user(messages: list[JsonObject]) -> str:
    """The text of the last user message."""
    texts = [text_of(m.get("content")) for m in messages if m.get("role") == "user"]
    return texts[-1] if texts else "nothing"
