"""One choice of a streamed answer (sections 3 to 7): choice objects of chunks in, choice objects out."""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.replay import summary
from moongate.kimi.answer import Answer
from moongate.kimi.call import Call, ToldCalls
from moongate.kimi.choice import TEXT_FIELDS, ChoiceState, Told
from moongate.kimi.pieces import Channel, Piece, Text
from moongate.payload import JsonObject

_OF_ANY_CHUNK: Final = frozenset(("index", "delta", "finish_reason", "logprobs"))


class StreamedChoice(ChoiceState):
    """Where nothing changed, the same object leaves that came."""

    __slots__ = ("_content", "finished")

    def __init__(self, answer: Answer, index: int) -> None:
        super().__init__(answer, index)
        self.finished = False
        self._content: list[str] = []  # for the summary

    def plain(self, field: str, text: bytes) -> bool:
        """May these texts of one field leave as they came? See `Exchange.plain`."""
        gate = self.answer.gate
        if gate is None or (gate[0] in text if len(gate) == 1 else text.translate(None, gate) != text):
            return False
        channel: Channel = "content" if field == "content" else "reasoning"
        if self.parser is not None and not self.finished:
            idle = self.parser.idle_for(channel)
        else:
            idle = not self.is_watching(channel)
        if idle and channel == "content":
            if not text:
                return self.said  # else the next text, which may not come this way, must be seen
            self.said = True
        return idle

    def feed(self, choice: JsonObject) -> list[JsonObject]:
        """What leaves for this choice of a chunk."""
        found = choice.get("delta")
        delta: JsonObject = found if isinstance(found, dict) else {}
        deltas = self._deltas(delta)
        reason = choice.get("finish_reason")
        if reason is not None:
            return self._finish(choice, delta, deltas, reason)
        return [choice] if len(deltas) == 1 and deltas[0] is delta else self._leave(choice, deltas)

    def say(self, field: str, text: str) -> list[Told] | None:
        """The same for a chunk that carries nothing but text; None if it leaves as it came."""
        if not text:
            return None  # it says nothing, and nothing need be read to know that
        channel: Channel = "content" if field == "content" else "reasoning"
        if self.parser is None or self.finished:
            self.watch(channel, text)
        else:
            pieces = self.parser.feed(channel, text)
            if not _is_same(pieces, channel, text):
                return self._remembered(self.told(pieces)) if pieces else []
        self._remember(channel, text)
        return None

    def end(self) -> list[JsonObject]:
        """The stream is over (`[DONE]`): what waits leaves, and a finish reason that never came."""
        if self.finished:
            return []
        left = [self.bare(delta) for delta in self._flush()]
        self.finished = True
        message = self._summary()
        if self.answer.options.enforce_finish_reason_loop or self.cut or message:
            usual = "tool_calls" if message else "stop"
            left.append({**self.bare({}), **message, "finish_reason": self.finish_reason(usual)})
            self.answer.note("finish_reason", f"choices[{self.index}].finish_reason", None, usual)
        return left

    def broken(self) -> list[JsonObject]:
        """The stream broke: text that waits leaves, and no finish reason."""
        if self.finished or self.parser is None:
            return []
        self.finished = True
        return [self.bare(delta) for delta in self._from_pieces(self.parser.close(), {})]

    def _deltas(self, delta: JsonObject) -> list[JsonObject]:
        """What leaves of a delta: itself alone if nothing changed."""
        entries = delta.get("tool_calls")
        if entries and isinstance(entries, list):
            left = self.calls.deltas(entries)
            if left is not entries:
                rest = {name: value for name, value in delta.items() if name != "tool_calls"}
                if not left and not any(rest.values()):
                    return []
                delta = {**rest, "tool_calls": left} if left else rest
        if delta.get("refusal"):
            self.said = True
        if self.parser is not None and not self.finished:
            return self._read(delta)
        for channel, text in self.texts(delta):
            self._remember(channel, text)
            self.watch(channel, text)
        return [delta]

    def _read(self, delta: JsonObject) -> list[JsonObject]:
        """The delta with the calls that stand in its texts taken out of them."""
        assert self.parser is not None
        pieces: list[Piece] = []
        same = True
        texts = self.texts(delta)
        for channel, text in texts:
            found = self.parser.feed(channel, text)
            same = same and _is_same(found, channel, text)
            pieces += found
        if same:
            for channel, text in texts:
                self._remember(channel, text)
            return [delta]
        read = {"content", *self.fields} if texts else TEXT_FIELDS
        return self._from_pieces(pieces, {name: value for name, value in delta.items() if name not in read})

    def _remember(self, channel: Channel, text: str) -> None:
        if channel == "content":
            self.said = True
            if self.answer.options.assemble_tool_deltas:
                self._content.append(text)

    def _remembered(self, told: list[Told]) -> list[Told]:
        for each in told:
            if isinstance(each, Text):
                self._remember(each.channel, each.text)
        return told

    def _from_pieces(self, pieces: list[Piece], lead: JsonObject) -> list[JsonObject]:
        """The deltas that tell these pieces; `lead` goes with the first one."""
        deltas = [delta for told in self._remembered(self.told(pieces)) for delta in self.deltas(told)]
        if not any(lead.values()):
            return deltas
        if deltas and "tool_calls" not in deltas[0]:
            return [{**lead, **deltas[0]}, *deltas[1:]]
        return [lead, *deltas]

    def deltas(self, told: Told) -> list[JsonObject]:
        """The deltas that tell it."""
        if isinstance(told, Text):
            return [dict.fromkeys(("content",) if told.channel == "content" else self.fields, told.text)]
        if isinstance(told, Call):
            return [begin_delta(told.index, told.id or "", told.shown)]
        if isinstance(told, ToldCalls):
            return [delta for call in told for delta in (begin_delta(*call[:3]), arguments_delta(call[0], call[3]))]
        call, text = told
        return [arguments_delta(call.index, text)]

    def _flush(self) -> list[JsonObject]:
        deltas = self._from_pieces(self.parser.close(), {}) if self.parser is not None else []
        calls = self.calls.unfinished()
        return [*deltas, {"tool_calls": calls}] if calls else deltas

    def _finish(self, choice: JsonObject, delta: JsonObject, deltas: list[JsonObject], reason: Any) -> list[JsonObject]:
        """The choice object that says that the choice ends."""
        if self.finished or not isinstance(reason, str) or not reason:
            if self.answer.options.enforce_finish_reason_loop:
                self.answer.note("finish_reason", f"choices[{self.index}].finish_reason", reason, None)
                return self._leave({**choice, "finish_reason": None}, deltas or [{}])
            return [choice] if len(deltas) == 1 and deltas[0] is delta else self._leave(choice, deltas or [{}])
        flushed = self._flush()
        self.finished = True
        final = self.finish_reason(reason)
        message = self._summary()
        if not flushed and not message and len(deltas) <= 1:
            if deltas and deltas[0] is delta and final == reason:
                return [choice]
            return [{**choice, "delta": deltas[0] if deltas else {}, "finish_reason": final}]
        last = {**choice, "delta": {}, **message, "finish_reason": final}
        left = [self.bare(each) for each in (*deltas, *flushed) if any(each.values())]
        if left and choice.get("logprobs") is not None:
            left[0]["logprobs"], last["logprobs"] = choice["logprobs"], None
        return [*left, last]

    def _leave(self, choice: JsonObject, deltas: list[JsonObject]) -> list[JsonObject]:
        """Choice objects for deltas; what else came with the choice goes with the first one."""
        if not deltas:
            more = any(value is not None for name, value in choice.items() if name not in _OF_ANY_CHUNK)
            return [{**choice, "delta": {}}] if more else []
        return [{**choice, "delta": deltas[0]}, *(self.bare(delta) for delta in deltas[1:])]

    def bare(self, delta: JsonObject) -> JsonObject:
        """A choice object of our own."""
        return {"index": self.index, "delta": delta, "finish_reason": None}

    def _summary(self) -> JsonObject:
        """The message of the last chunk, if calls are assembled and there are any (section 7)."""
        if not self.answer.options.assemble_tool_deltas or not self.calls.all:
            return {}
        return {"message": summary("".join(self._content), [call.told() for call in self.calls.all])}


def begin_delta(index: int, id_: str, name: str) -> JsonObject:
    """The delta that tells of a call (section 5.10)."""
    function = {"name": name, "arguments": ""}
    return {"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]}


def arguments_delta(index: int, text: str) -> JsonObject:
    """The delta that goes on with it."""
    return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


def _is_same(pieces: list[Piece], channel: Channel, text: str) -> bool:
    """Did the parser read this text as just that?"""
    if len(pieces) != 1:
        return False
    piece = pieces[0]
    return isinstance(piece, Text) and piece.text == text and piece.channel == channel
