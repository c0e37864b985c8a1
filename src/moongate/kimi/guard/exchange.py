"""An exchange under the guard: its calls are checked before they leave, and damaged answers are asked for again.

Streams: text and reasoning flow as they come. With `repair` the arguments of a call are held until they are whole;
with `retry` all calls of a choice and its finish are held until the answer is over. A further try goes on in the same
stream: its text follows what was shown, and only the calls of the best answer leave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from moongate.chat.contracts import Note
from moongate.chat.items import Chunk, Done, Failure, Item
from moongate.chat.verdict import ReplacedAnswer, Verdict
from moongate.errors import GatewayError
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.guard.answer import GuardedAnswer
from moongate.kimi.guard.calls import CallGuard
from moongate.kimi.guard.stream import GuardedStream
from moongate.kimi.guard.tries import Step, steps_for, with_errors
from moongate.kimi.notes import Notes
from moongate.payload import JsonObject

Begin = Callable[[JsonObject], KimiExchange]


class GuardedExchange:
    """One request, one answer for the client, and as many of the provider as it takes.

    `begin` makes the exchange of a further try; without it none is made.
    """

    __slots__ = (
        *("_answers", "_begin", "_client_request", "_done", "_guard", "_next", "_noted", "_notes", "_steps"),
        *("_stream", "_takes_seed", "accepts_late_ids", "assembles_calls", "request"),
    )

    def __init__(
        self, client_request: JsonObject, first: KimiExchange, guard: CallGuard, begin: Begin | None, takes_seed: bool
    ) -> None:
        self.request = first.request
        self.assembles_calls = first.assembles_calls
        self.accepts_late_ids = first.accepts_late_ids
        self._client_request = client_request
        self._begin = begin
        self._guard = guard
        self._takes_seed = takes_seed
        self._steps: tuple[Step, ...] = () if begin is None else steps_for(client_request)
        self._answers = [GuardedAnswer(first, guard)]
        self._next: GuardedAnswer | None = None  # the answer to `next_request`
        self._stream = GuardedStream(self._answers[0], holds_finish=bool(self._steps))
        self._done: Done | None = None  # the end of the stream, while it is held back
        self._notes = Notes()  # of all answers, if there are several,
        self._noted = [0] * (1 + len(self._steps))  # and up to which position those of each are among them

    @property
    def is_first_try(self) -> bool:
        """Whether no further try was made or is wanted: text flows as it comes."""
        return len(self._answers) == 1 and self._done is None

    def keeper(self, choice: int, field: str) -> Callable[[bytes], None] | None:
        """What keeps text that flows unread, still escaped; None if no other try can be made."""
        return None if self._begin is None else partial(self.current.choice(choice).keep, field)

    @property
    def current(self) -> GuardedAnswer:
        """The answer that is being read, or was read last."""
        return self._answers[-1]

    @property
    def best(self) -> GuardedAnswer:
        """The answer that leaves: a valid one before a damaged one, an earlier one before a later one."""
        over = [answer for answer in self._answers if answer.is_over] or self._answers
        return next((answer for answer in over if answer.is_valid()), over[0])

    @property
    def notes(self) -> Sequence[Note]:
        """Those of the first answer, and what further ones needed. Asked for after each event of a captured stream, so
        only new ones are looked at."""
        if len(self._answers) == 1:
            return self._answers[0].exchange.notes
        for at, answer in enumerate(self._answers):
            notes, known = answer.exchange.answer.notes, self._noted[at]
            if notes.position > known:
                self._noted[at] = notes.position
                self._notes.add_notes_of(notes, known, only_of_answer=at > 0)
        return self._notes

    @property
    def verdict(self) -> Verdict:
        return self.best.verdict

    def schema_check(self) -> Callable[[], Verdict] | None:
        """None: calls are checked before they leave."""
        return None

    @property
    def replaced(self) -> Sequence[ReplacedAnswer]:
        best = self.best
        return [ReplacedAnswer(each.verdict, each.usage) for each in self._answers if each is not best]

    def next_request(self) -> JsonObject | None:
        if self._next is None and self._wants_another():
            try:
                self._next = self._begun()
            except GatewayError:  # the changed request is not acceptable: the answer stays as it is
                self._steps = ()
        return None if self._next is None else self._next.exchange.request

    def reply(self, body: JsonObject) -> JsonObject:
        """The best answer so far."""
        self._take_next()
        answer = self.current
        left = answer.read_whole(answer.exchange.reply(body))
        best = self.best
        return left if best is answer else best.body or left

    def feed(self, item: Item) -> Sequence[Item]:
        self._take_next()
        exchange = self.current.exchange
        if isinstance(item, Failure) and len(self._answers) > 1:
            exchange.feed(item)
            self._steps = ()
            return self.settle()
        out: list[Item] = []
        for each in exchange.feed(item):
            out += self._left(each)
        return out

    def close(self) -> Sequence[Item]:
        if self._done is not None or self.current.is_over:
            return ()
        return [left for each in self.current.exchange.close() for left in self._left(each)]

    def settle(self) -> Sequence[Item]:
        done, self._done, self._steps, self._next = self._done or Done(), None, (), None
        best = self.best
        items: list[Item] = [*self._stream.continued(best.release(), is_new=best.body is not None), done]
        for answer in self._answers:
            answer.forget()
        return items

    def _left(self, item: Item) -> list[Item]:
        """What the client gets for an item of the exchange."""
        if isinstance(item, Chunk):
            return list(self._stream.feed(item))
        if isinstance(item, Failure):
            return [*self.current.release(), item]
        if not isinstance(item, Done):
            return [item]
        self.current.end_stream()
        self._done = item
        return [] if self._wants_another() else list(self.settle())

    def _wants_another(self) -> bool:
        answer = self.current
        return bool(self._steps) and answer.is_over and not answer.is_final() and not self._stream.is_flowing

    def _begun(self) -> GuardedAnswer:
        """The next try: the request, and the exchange for its answer."""
        assert self._begin is not None
        step, *rest = self._steps
        self._steps = tuple(rest)
        request = self._client_request
        if step == "errors":
            given = request.get("seed")
            seed = given if isinstance(given, int) else 0
            choices = self.current.choices
            choice = choices[min(choices)] if choices else None  # in a stream another one may have begun first
            message, calls = (choice.message(), choice.calls) if choice is not None else ({}, [])
            takes = self._takes_seed or given is not None
            request = with_errors(request, message, calls, seed + len(self._answers) if takes else None)
        return GuardedAnswer(self._begin(request), self._guard)

    def _take_next(self) -> None:
        if self._next is not None:
            self._answers.append(self._next)
            self._stream.begin_try(self._next)
            self._next, self._done = None, None
