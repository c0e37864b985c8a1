"""What was repaired in one exchange, and what its answer was worth: for callbacks and `response.extensions`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from moongate.chat.contracts import Exchange, Note
from moongate.chat.verdict import ABORTED, Verdict


class AnswerReport:
    """Of one request of a client. Complete when the answer is over; of a stream that is when it was read or closed."""

    __slots__ = ("_exchange", "_is_over", "_on_answer", "learned", "model", "requests")

    def __init__(self, model: str, exchange: Exchange, on_answer: Callable[[AnswerReport], None] | None) -> None:
        self.model = model
        self.requests = 0  # how many were sent to the provider
        self.learned: Sequence[Note] = ()  # the rules that refusals of this request have taught
        self._exchange = exchange
        self._on_answer = on_answer
        self._is_over = False

    @property
    def notes(self) -> Sequence[Note]:
        """What was repaired in request and answer."""
        return [*self._exchange.notes, *self.learned]

    @property
    def verdict(self) -> Verdict:
        """`aborted` until the answer is over."""
        return self._exchange.verdict if self._is_over else ABORTED

    def use(self, exchange: Exchange) -> None:
        """The request is sent again in another form."""
        self._exchange = exchange

    def finish(self) -> None:
        """The answer is over: tell the callback, once."""
        if not self._is_over:
            self._is_over = True
            if self._on_answer is not None:
                self._on_answer(self)
