"""One answer of a provider under the guard: the first one, or that of a further try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moongate.chat.call_grouping import ARGUMENTS, arguments_text, body_of, text_of
from moongate.chat.items import Chunk
from moongate.chat.progress import choice_index
from moongate.chat.replay import chunks_of
from moongate.chat.verdict import Verdict
from moongate.kimi.answer.judge import JudgedCall
from moongate.kimi.answer.schema_check import schema_check
from moongate.kimi.exchange import MAX_CHOICES, KimiExchange
from moongate.kimi.guard.calls import CallGuard, GuardedCall
from moongate.kimi.guard.held_calls import HeldCall, HeldCalls, renamed_id
from moongate.kimi.guard.tries import NEVER_TRIED_AGAIN, TRIED_AGAIN
from moongate.payload import JsonObject, loads
from moongate.wire.threads import free_in_pieces

MAX_KEPT: Final = 8 * 1024 * 1024  # characters or bytes of text, of one choice


class GuardedChoice:
    """One choice: its text so far, its calls, its finish."""

    __slots__ = ("_size", "calls", "entries", "finish", "held", "reason", "texts")

    def __init__(self, held: HeldCalls) -> None:
        self.held = held
        # What was said, by member of the message; only where it may be needed. As bytes it is still escaped.
        self.texts: dict[str, list[str | bytes]] = {}
        self._size = 0
        self.finish: Chunk | None = None  # the held chunk that ends the choice
        self.reason: object = None
        self.calls: list[GuardedCall] = []
        self.entries: list[JsonObject] = []  # the calls as members of a message

    def keep(self, name: str, text: str | bytes) -> None:
        """Text of this member of the message; none of it is kept if there is too much."""
        self._size += len(text)
        if self._size <= MAX_KEPT:
            self.texts.setdefault(name, []).append(text)
        else:
            self.texts.clear()

    def forget(self) -> None:
        self.held.forget()
        free_in_pieces(self.entries)
        free_in_pieces(self.calls)
        for parts in self.texts.values():
            free_in_pieces(parts)

    def message(self) -> JsonObject:
        """The turn, to be answered with what is wrong with it."""
        texts = {name: "".join(map(_unescaped, parts)) for name, parts in self.texts.items()}
        return {"content": None, **texts, "tool_calls": self.entries}


class GuardedAnswer:
    """`exchange` reads it; what leaves the exchange comes here."""

    __slots__ = ("_guard", "body", "choices", "exchange", "is_over", "tail", "usage")

    def __init__(self, exchange: KimiExchange, guard: CallGuard) -> None:
        self.exchange = exchange
        self._guard = guard
        self.choices: dict[int, GuardedChoice] = {}
        self.body: JsonObject | None = None  # of a whole answer
        self.tail: list[Chunk] = []  # chunks behind the first held finish that belong to no choice
        self.usage: JsonObject | None = None
        self.is_over = False

    @property
    def verdict(self) -> Verdict:
        return self.exchange.verdict

    def choice(self, index: int) -> GuardedChoice:
        choice = self.choices.get(index)
        if choice is None:
            choice = self.choices[index] = GuardedChoice(HeldCalls(index, self._guard.check))
        return choice

    def guards(self, index: int) -> bool:
        """Whether this choice is among those that are repaired."""
        return len(self.choices) < MAX_CHOICES or index in self.choices

    def is_final(self) -> bool:
        """Is there a choice for which no further try is made?"""
        judged = self.exchange.answer.judge.choices
        return any(TRIED_AGAIN.isdisjoint(kinds) for kinds in judged.values()) or any(
            choice.reason in NEVER_TRIED_AGAIN for choice in self.choices.values()
        )

    def is_valid(self) -> bool:
        """Is there a choice that is not damaged?"""
        return any(not kinds for kinds in self.exchange.answer.judge.choices.values())

    def read_whole(self, body: JsonObject) -> JsonObject:
        """A whole answer, its calls mended; the same object if nothing changed."""
        usage = body.get("usage")
        self.usage = usage if isinstance(usage, dict) else None
        choices = body.get("choices")
        news = choices
        if isinstance(choices, list):
            news = [
                self._whole_choice(each, choice_index(each, at)) if at < MAX_CHOICES else each
                for at, each in enumerate(choices)
                if isinstance(each, dict)
            ]
            if len(news) != len(choices) or all(new is old for new, old in zip(news, choices, strict=True)):
                news = choices
        self.body = body if news is choices else {**body, "choices": news}
        self.is_over = True
        return self.body

    def _whole_choice(self, choice: JsonObject, index: int) -> JsonObject:
        found = choice.get("message")
        message: JsonObject = found if isinstance(found, dict) else {}
        guarded = self.choice(index)
        guarded.reason = choice.get("finish_reason")
        guarded.texts = {name: [text] for name, text in message.items() if isinstance(text, str) and name != "role"}
        entries = message.get("tool_calls")
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries) or not entries:
            return choice
        for entry in entries:
            kind, body = body_of(entry)
            name, text = text_of(body.get("name")), arguments_text(body.get(ARGUMENTS[kind]))
            call = self._guard.check(name, text, custom=kind == "custom")
            guarded.calls.append(call)
            guarded.entries.append(with_call(entry, call) if call.notes else entry)
        self._judge(index, [call.judged for call in guarded.calls])
        if not any(call.notes for call in guarded.calls):
            return choice
        self._note(index, guarded.calls)
        return {**choice, "message": {**message, "tool_calls": guarded.entries}}

    def end_stream(self) -> None:
        """The stream is over: its calls are judged."""
        self.is_over = True
        judge = self.exchange.answer.judge
        if any(choice.held.flowing for choice in self.choices.values()) and (
            check := schema_check(self.exchange.answer)
        ):
            check()
        for index, choice in self.choices.items():
            checked = [*choice.held.calls, *choice.held.checked()]
            choice.calls = [guarded for _, guarded in checked]
            choice.entries = [
                call_entry(renamed_id(held.original_id, held.name, call.name), call) for held, call in checked
            ]
            if choice.calls:
                left = [call.judged for call in choice.calls]
                self._judge(index, _as_they_left(checked, judge.calls.get(index, [])) if choice.held.flowing else left)
                self._note(index, choice.calls)

    def release(self) -> list[Chunk]:
        """What was held back: calls, finishes, and the chunks behind them."""
        if self.body is not None:
            return chunks_of(self.body)
        chunks: list[Chunk] = []
        for choice in self.choices.values():
            chunks += choice.held.release()
            if choice.finish is not None:
                chunks.append(choice.finish)
                choice.finish = None
        tail, self.tail = self.tail, []
        return [*chunks, *tail]

    def forget(self) -> None:
        """The stream has left: free what it was read into, in pieces between which other threads may run. All at once,
        at the end of the request, it would block an event loop."""
        self.exchange.forget()
        for choice in self.choices.values():
            choice.forget()

    def _judge(self, index: int, calls: Sequence[JudgedCall]) -> None:
        judge = self.exchange.answer.judge
        end = judge.ends.get(index)
        if end is not None:
            judge.choice(index, calls, end)

    def _note(self, index: int, calls: Sequence[GuardedCall]) -> None:
        notes = self.exchange.answer.notes
        for at, call in enumerate(calls):
            for note in call.notes:
                notes.add_explained(note._replace(where=f"choices[{index}].message.tool_calls[{at}]{note.where}"))


def _as_they_left(held: Sequence[tuple[HeldCall, GuardedCall]], came: Sequence[JudgedCall]) -> list[JudgedCall]:
    """The calls of a choice that flows: those that were held until they were whole, then the others as they came."""
    pairs = enumerate(zip(held, came, strict=False))
    whole = {at: left.judged for at, ((part, left), call) in pairs if part.arguments == call.arguments}
    return [whole.get(at, call) for at, call in enumerate(came)]


def _unescaped(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    found: str = loads(b'"%b"' % text)
    return found


def call_entry(id_: str, call: GuardedCall) -> JsonObject:
    if call.custom:
        return {"id": id_, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    return {"id": id_, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def with_call(entry: JsonObject, call: GuardedCall) -> JsonObject:
    """An entry of `tool_calls` with the name and the arguments of the mended call."""
    kind, body = body_of(entry)
    changed = {**body, "name": call.name, ARGUMENTS[kind]: call.arguments}
    id_ = renamed_id(text_of(entry.get("id")), text_of(body.get("name")), call.name)
    return {**entry, "id": id_, kind: changed}
