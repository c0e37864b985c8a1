"""One choice of a whole answer: the same rules as in a stream, fed once (sections 3, 5, 6)."""

from __future__ import annotations

from moongate.kimi.answer.call import AnswerCall, EmittedCall, EmittedCalls, call_object
from moongate.kimi.answer.choice import REASONING_FIELDS, ChoiceState, Emitted, has_other_content
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.answer.fast import needs_no_repair
from moongate.kimi.markers.pieces import Channel, Parser, Piece, Text
from moongate.payload import JsonObject
from moongate.wire.threads import let_threads_run


def repair_choice(answer: AnswerContext, index: int, choice: JsonObject) -> JsonObject:
    """The choice, repaired; the same object if nothing changed."""
    found = choice.get("message")
    message: JsonObject = found if isinstance(found, dict) else {}
    if answer.fast and needs_no_repair(answer, choice, message):
        answer.judge.sound_text(index)
        return choice
    state = ChoiceState(answer, index)
    repaired = _native(state, message) if message.get("tool_calls") else message
    if state.parser is not None:
        repaired = _read(state, state.parser, repaired)
    else:
        for channel, text in state.texts(message):
            state.has_content = state.has_content or channel == "content"
            state.watch(channel, text)
    state.has_content = state.has_content or has_other_content(message)
    reason = choice.get("finish_reason")
    final: object
    if reason is None or isinstance(reason, str):
        final = state.finish_reason(reason)
    else:
        final = reason
        state.judge(None)
    if repaired is message and final == reason:
        return choice
    return {**choice, "message": repaired, "finish_reason": final}


def _native(state: ChoiceState, message: JsonObject) -> JsonObject:
    """The message with its native calls repaired. They come first, markers or not (section 5.7)."""
    entries = message["tool_calls"]
    if not isinstance(entries, list):
        return message
    repaired = state.calls.whole(entries)
    state.calls.emitted += [entry for entry in repaired if isinstance(entry, dict)]
    if repaired is entries:
        return message
    if repaired:
        return {**message, "tool_calls": repaired}
    return {name: value for name, value in message.items() if name != "tool_calls"}


def _read(state: ChoiceState, parser: Parser, message: JsonObject) -> JsonObject:
    """The message with the calls in its texts taken out of them."""
    texts = state.texts(message)
    pieces: list[Piece] = []
    for channel, text in texts:
        pieces += parser.feed(channel, text)
    parts: dict[Channel, list[str]] = {"content": [], "reasoning": []}
    calls = _taken(state, state.emit(pieces), parts)
    leaked = state.leaked
    calls += _taken(state, [*state.emit(parser.close()), *state.late_calls()], parts)
    state.text_ended(leaked)
    joined: dict[Channel, str] = {channel: "".join(texts) for channel, texts in parts.items()}
    state.has_content = bool(joined["content"])
    if not calls and {channel: text for channel, text in joined.items() if text} == dict(texts):
        return message
    return _written(message, joined, state.fields, calls)


def _taken(state: ChoiceState, found: list[Emitted], parts: dict[Channel, list[str]]) -> list[AnswerCall | EmittedCall]:
    """The calls among these; their texts go to `parts`."""
    calls: list[AnswerCall | EmittedCall] = []
    for emitted in found:
        if isinstance(emitted, Text):
            parts[emitted.channel].append(emitted.text)
            state.look_for_leaks(emitted.channel, emitted.text)
        elif isinstance(emitted, AnswerCall):
            calls.append(emitted)
        elif isinstance(emitted, EmittedCalls):
            calls += emitted
    return calls


def _written(
    message: JsonObject, texts: dict[Channel, str], fields: tuple[str, ...], calls: list[AnswerCall | EmittedCall]
) -> JsonObject:
    parts = message.get("content")
    written = {**message, "content": texts["content"] or (parts if isinstance(parts, list) else None)}
    for field in fields:
        if texts["reasoning"]:
            written[field] = texts["reasoning"]
        elif field in REASONING_FIELDS and field in written:
            written[field] = None
    if calls:
        written["tool_calls"] = [*(written.get("tool_calls") or ()), *map(_call, calls)]
    return written


def _call(call: AnswerCall | EmittedCall) -> JsonObject:
    let_threads_run()
    return call.rendered() if isinstance(call, AnswerCall) else call_object(*call[1:])
