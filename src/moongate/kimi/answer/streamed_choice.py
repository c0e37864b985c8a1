"""One choice of a streamed answer (sections 3 to 7): choice objects of chunks in, choice objects out."""

from __future__ import annotations

from typing import Final

from moongate.chat.replay import summary
from moongate.kimi.answer.call import AnswerCall, EmittedCalls
from moongate.kimi.answer.call_deltas import arguments_delta, begin_delta, begins_name, delta_of, goes_on
from moongate.kimi.answer.choice import TEXT_FIELDS, ChoiceState, Emitted, has_other_content
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.markers.pieces import Channel, Parser, Piece, Text
from moongate.payload import JsonObject

_USUAL_MEMBERS: Final = frozenset(("index", "delta", "finish_reason", "logprobs"))


class StreamedChoice(ChoiceState):
    """Where nothing changes, the client gets the same objects that came."""

    __slots__ = ("_content", "_unsure", "finished")

    def __init__(self, answer: AnswerContext, index: int) -> None:
        super().__init__(answer, index)
        self.finished = False
        self._content: list[str] = []  # for the summary
        self._unsure: JsonObject | None = None  # it begins a call of whose name more may follow

    @property
    def waits_for_name(self) -> bool:
        """Whether a call that has a name waits for more of it: it leaves before any text."""
        return self._unsure is not None or self.calls.waits_for_name

    def feed(self, choice: JsonObject) -> list[JsonObject]:
        """The choice objects that the client gets for this one of a chunk.

        One that begins a call waits for the next if its name may go on, and leaves as it came if it does not.
        """
        unsure, delta = self._unsure, delta_of(choice)
        if unsure is None:
            if self.finished or choice.get("finish_reason") or not begins_name(self.answer, delta) or self.texts(delta):
                return self._feed(choice, delta)
            self._unsure = choice
            return []
        if not (delta.get("tool_calls") or choice.get("finish_reason") or self.texts(delta)):
            return self._feed(choice, delta)
        if goes_on(delta_of(unsure), delta):
            return [*self._feed_unsure(False), *self._feed(choice, delta)]
        return [*self._feed_unsure(True), *self.feed(choice)]

    def _feed_unsure(self, whole: bool) -> list[JsonObject]:
        """What waits for more of a name, if anything does; `whole`: no more of it follows."""
        choice, self._unsure = self._unsure, None
        if choice is None:
            return []
        self.calls.names_are_whole = whole
        fed = self._feed(choice, delta_of(choice))
        self.calls.names_are_whole = False
        return fed

    def _feed(self, choice: JsonObject, delta: JsonObject) -> list[JsonObject]:
        deltas = self._deltas(delta)
        reason = choice.get("finish_reason")
        if reason is not None:
            return self._finish(choice, delta, deltas, reason)
        return [choice] if len(deltas) == 1 and deltas[0] is delta else self._choice_objects(choice, deltas)

    def end(self) -> list[JsonObject]:
        """The stream is over (`[DONE]`): what was held back comes out, with a finish reason that never came."""
        if self.finished:
            return []
        objects = [*self._feed_unsure(True), *map(self.bare, self._flush())]
        self.finished = True
        message = self._summary()
        if self.answer.options.enforce_finish_reason_loop or self.truncated or message:
            final = self.finish_reason(None)
            if final is None:  # section 6 is off, but the calls of section 7 need a reason
                final = "tool_calls"
                self.answer.note("finish_reason", f"choices[{self.index}].finish_reason", None, final)
            objects.append({**self.bare({}), **message, "finish_reason": final})
        else:
            self.judge(None)
        return objects

    def broken(self) -> list[JsonObject]:
        """The stream broke: text that was held back comes out, without a finish reason."""
        if self.finished:
            return []
        self.finished = True
        held = self._from_pieces(self.parser.close(), {}) if self.parser is not None else []
        return [*self._feed_unsure(True), *map(self.bare, held)]

    def _deltas(self, delta: JsonObject) -> list[JsonObject]:
        """The deltas that the client gets for one: itself alone if nothing changed."""
        if self.calls.waits_for_name and self.texts(delta):
            return [{"tool_calls": self.calls.release_before_text()}, *self._deltas(delta)]
        entries = delta.get("tool_calls")
        released: list[Emitted] | None = None
        if entries and isinstance(entries, list):
            repaired = self.calls.deltas(entries)
            if self.parser is not None and not self.finished:
                released = self._released(self.parser, delta)
            if repaired is not entries:
                rest = {name: value for name, value in delta.items() if name != "tool_calls"}
                if not repaired and not released and not any(rest.values()):
                    return []
                delta = {**rest, "tool_calls": repaired} if repaired else rest
        if has_other_content(delta):
            self.has_content = True
        if released is not None:
            return self._beside_native(released, delta)
        if self.parser is not None and not self.finished:
            return self._read(self.parser, delta)
        for channel, text in self.texts(delta):
            self.remember(channel, text)
            self.watch(channel, text)
        return [delta]

    def _read(self, parser: Parser, delta: JsonObject) -> list[JsonObject]:
        """The delta with the calls in its texts taken out of them."""
        pieces: list[Piece] = []
        same = True
        texts = self.texts(delta)
        for channel, text in texts:
            found = parser.feed(channel, text)
            same = same and is_same(found, channel, text)
            pieces += found
        if same:
            for channel, text in texts:
                self.remember(channel, text)
            return [delta]
        return self._from_pieces(pieces, self._without_texts(delta, texts))

    def _without_texts(self, delta: JsonObject, texts: list[tuple[Channel, str]]) -> JsonObject:
        read = {"content", *self.fields} if texts else TEXT_FIELDS
        return {name: value for name, value in delta.items() if value is None or name not in read}

    def _released(self, parser: Parser, delta: JsonObject) -> list[Emitted]:
        """The texts of a delta with native calls, behind what was held back: no marker goes on behind such a call."""
        pieces = [piece for channel, text in self.texts(delta) for piece in parser.feed(channel, text)]
        return self.read([*pieces, *parser.release()])

    def _beside_native(self, emitted: list[Emitted], delta: JsonObject) -> list[JsonObject]:
        """The deltas for a delta with native calls: its texts, then those calls, then calls read from the texts."""
        texts = self.texts(delta)
        if [(each.channel, each.text) if isinstance(each, Text) else None for each in emitted] == texts:
            return [delta]
        lead = self._without_texts(delta, texts)
        native = {"tool_calls": lead.pop("tool_calls")} if "tool_calls" in lead else {}
        before = next((at for at, each in enumerate(emitted) if not isinstance(each, Text)), len(emitted))
        deltas = [made for each in emitted[:before] for made in self.deltas(each)]
        if any(lead.values()):
            deltas = [{**lead, **deltas[0]}, *deltas[1:]] if deltas else [lead]
        if native:
            deltas.append(native)
        return [*deltas, *(made for each in emitted[before:] for made in self.deltas(each))]

    def remember(self, channel: Channel, text: str) -> None:
        """This text reaches the client."""
        if self.parser is not None:
            self.look_for_leaks(channel, text)
        if channel == "content":
            self.has_content = True
            if self.answer.options.assemble_tool_deltas:
                self._content.append(text)

    def read(self, pieces: list[Piece]) -> list[Emitted]:
        """What the client gets of what the parser read; its texts are remembered."""
        emitted = self.emit(pieces)
        for each in emitted:
            if isinstance(each, Text):
                self.remember(each.channel, each.text)
        return emitted

    def _from_pieces(self, pieces: list[Piece], lead: JsonObject) -> list[JsonObject]:
        """The deltas for these pieces; `lead` goes with the first one."""
        deltas = [delta for emitted in self.read(pieces) for delta in self.deltas(emitted)]
        if not any(lead.values()):
            return deltas
        if deltas and "tool_calls" not in deltas[0]:
            return [{**lead, **deltas[0]}, *deltas[1:]]
        return [lead, *deltas]

    def deltas(self, emitted: Emitted) -> list[JsonObject]:
        """The deltas for it."""
        if isinstance(emitted, Text):
            return [dict.fromkeys(("content",) if emitted.channel == "content" else self.fields, emitted.text)]
        if isinstance(emitted, AnswerCall):
            return [begin_delta(emitted.index, emitted.id or "", emitted.client_name)]
        if isinstance(emitted, EmittedCalls):
            return [delta for call in emitted for delta in (begin_delta(*call[:3]), arguments_delta(call[0], call[3]))]
        call, text = emitted
        return [arguments_delta(call.index, text)]

    def _flush(self) -> list[JsonObject]:
        leaked = self.leaked
        deltas = self._from_pieces(self.parser.close(), {}) if self.parser is not None else []
        self.text_ended(leaked)
        deltas += [delta for emitted in self.late_calls() for delta in self.deltas(emitted)]
        calls = self.calls.unfinished()
        return [*deltas, {"tool_calls": calls}] if calls else deltas

    def _finish(
        self, choice: JsonObject, delta: JsonObject, deltas: list[JsonObject], reason: object
    ) -> list[JsonObject]:
        """The choice objects for the end of the choice."""
        if self.finished or not isinstance(reason, str) or not reason:
            if self.answer.options.enforce_finish_reason_loop:
                self.answer.note("finish_reason", f"choices[{self.index}].finish_reason", reason, None)
                return self._choice_objects({**choice, "finish_reason": None}, deltas or [{}])
            return [choice] if len(deltas) == 1 and deltas[0] is delta else self._choice_objects(choice, deltas or [{}])
        flushed = self._flush()
        self.finished = True
        final = self.finish_reason(reason)
        message = self._summary()
        if not flushed and not message and len(deltas) <= 1:
            if deltas and deltas[0] is delta and final == reason:
                return [choice]
            return [{**choice, "delta": deltas[0] if deltas else {}, "finish_reason": final}]
        last = {**choice, "delta": {}, **message, "finish_reason": final}
        objects = [self.bare(each) for each in (*deltas, *flushed) if any(each.values())]
        if objects and choice.get("logprobs") is not None:
            objects[0]["logprobs"], last["logprobs"] = choice["logprobs"], None
        return [*objects, last]

    def _choice_objects(self, choice: JsonObject, deltas: list[JsonObject]) -> list[JsonObject]:
        """Choice objects for deltas; what else came with the choice goes with the first one."""
        if not deltas:
            more = any(value is not None for name, value in choice.items() if name not in _USUAL_MEMBERS)
            return [{**choice, "delta": {}}] if more else []
        return [{**choice, "delta": deltas[0]}, *(self.bare(delta) for delta in deltas[1:])]

    def bare(self, delta: JsonObject) -> JsonObject:
        """A choice object of our own."""
        return {"index": self.index, "delta": delta, "finish_reason": None}

    def _summary(self) -> JsonObject:
        """The message of the last chunk, if calls are assembled and there are any (section 7)."""
        if not self.answer.options.assemble_tool_deltas or not self.calls.all:
            return {}
        return {"message": summary("".join(self._content), [call.rendered() for call in self.calls.all])}


def is_same(pieces: list[Piece], channel: Channel, text: str) -> bool:
    """Is this text all that the parser found in it?"""
    if len(pieces) != 1:
        return False
    piece = pieces[0]
    return isinstance(piece, Text) and piece.text == text and piece.channel == channel
