"""One choice of a whole answer: the same rules as in a stream, fed once (sections 3, 5, 6)."""

from __future__ import annotations

from moongate.kimi.answer import Answer
from moongate.kimi.call import Call, ToldCall, ToldCalls, call_object
from moongate.kimi.choice import REASONING_FIELDS, ChoiceState
from moongate.kimi.pieces import Channel, Parser, Piece, Text
from moongate.payload import JsonObject


def mended_choice(answer: Answer, index: int, choice: JsonObject) -> JsonObject:
    """The choice, repaired; the same object if nothing changed."""
    found = choice.get("message")
    message: JsonObject = found if isinstance(found, dict) else {}
    if answer.gate == b"<" and choice.get("finish_reason") == "stop" and _is_plain(message):
        return choice
    state = ChoiceState(answer, index)
    mended = _native(state, message) if message.get("tool_calls") else message
    if state.parser is not None:
        mended = _read(state, state.parser, mended)
    else:
        for channel, text in state.texts(message):
            state.said = state.said or channel == "content"
            state.watch(channel, text)
    state.said = state.said or bool(message.get("refusal"))
    reason = choice.get("finish_reason")
    final = state.finish_reason(reason) if reason is None or isinstance(reason, str) else reason
    if mended is message and final == reason:
        return choice
    return {**choice, "message": mended, "finish_reason": final}


def _is_plain(message: JsonObject) -> bool:
    """Are there words and no calls, and does nothing begin as a marker does? Most answers are so."""
    content = message.get("content")
    if not content or type(content) is not str or "<" in content or message.get("tool_calls"):
        return False
    texts = (message.get("reasoning_content"), message.get("reasoning"))
    return not any(text and (type(text) is not str or "<" in text) for text in texts)


def _native(state: ChoiceState, message: JsonObject) -> JsonObject:
    """The message with its native calls repaired. They come first, markers or not (section 5.7)."""
    entries = message["tool_calls"]
    if not isinstance(entries, list):
        return message
    mended = state.calls.whole(entries)
    return message if mended is entries else {**message, "tool_calls": mended}


def _read(state: ChoiceState, parser: Parser, message: JsonObject) -> JsonObject:
    """The message with the calls that stand in its texts taken out of them."""
    texts = state.texts(message)
    pieces: list[Piece] = []
    for channel, text in texts:
        pieces += parser.feed(channel, text)
    pieces += parser.close()
    said: dict[Channel, list[str]] = {"content": [], "reasoning": []}
    calls: list[Call | ToldCall] = []
    for told in state.told(pieces):
        if isinstance(told, Text):
            said[told.channel].append(told.text)
        elif isinstance(told, Call):
            calls.append(told)
        elif isinstance(told, ToldCalls):
            calls += told
    joined: dict[Channel, str] = {channel: "".join(parts) for channel, parts in said.items()}
    state.said = bool(joined["content"])
    if not calls and {channel: text for channel, text in joined.items() if text} == dict(texts):
        return message
    return _written(message, joined, state.fields, calls)


def _written(
    message: JsonObject, said: dict[Channel, str], fields: tuple[str, ...], calls: list[Call | ToldCall]
) -> JsonObject:
    written = {**message, "content": said["content"] or None}
    for field in fields:
        if said["reasoning"]:
            written[field] = said["reasoning"]
        elif field in REASONING_FIELDS and field in written:
            written[field] = None
    if calls:
        written["tool_calls"] = [*(written.get("tool_calls") or ()), *map(_told, calls)]
    return written


def _told(call: Call | ToldCall) -> JsonObject:
    return call.told() if isinstance(call, Call) else call_object(*call[1:])
