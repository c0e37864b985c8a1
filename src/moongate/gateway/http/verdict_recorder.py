"""Judges the answer of each attempt when it is over, and counts it: for the metrics, the log and the routes."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, perf_counter
from types import TracebackType
from typing import TYPE_CHECKING

from moongate.chat.contracts import Exchange
from moongate.chat.message_tools import offers_tools
from moongate.chat.verdict import ABORTED, CLEAN, FAILED, Verdict
from moongate.errors import BadUpstream, GatewayError
from moongate.gateway.http.upstream_errors import is_failure
from moongate.gateway.target import Target

if TYPE_CHECKING:
    from moongate.gateway.http.completion import Completion


class JudgedAnswer:
    """What an answer was worth. A check of schemas may change it later, until the log line is written."""

    __slots__ = ("tries", "verdict")

    def __init__(self, verdict: Verdict, tries: int = 1) -> None:
        self.verdict = verdict
        self.tries = tries  # answers of the provider; all but one were replaced


class VerdictRecorder:
    """A context around one attempt: `with VerdictRecorder(completion, target, exchange): …`."""

    __slots__ = ("_completion", "_exchange", "_started_at", "_target", "_tools")

    def __init__(self, completion: Completion, target: Target, exchange: Exchange) -> None:
        self._completion = completion
        self._target = target
        self._exchange = exchange
        self._tools = offers_tools(exchange.request)
        self._started_at = perf_counter()

    def __enter__(self) -> VerdictRecorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        completion, target = self._completion, self._target
        if completion.attempts == 1:
            target.counters(completion.dialect.name).count_overhead(self._started_at - completion.started_at)
        verdict = _verdict(self._exchange, error)
        if verdict is None:
            return
        completion.judged = judged = JudgedAnswer(verdict, len(completion.replaced) + 1)
        if error is None and completion.first_byte_at is not None:
            target.score.record_latency(completion.first_byte_at - self._started_at, streamed=completion.streamed)
        for replaced in completion.replaced:
            self._count(replaced.verdict, None)
        check = self._check() if error is None and self._tools else None
        if check is None:
            self._count(verdict, error)
        else:
            target.schema_checks.run(check, lambda found: self._checked(judged, found))

    def _check(self) -> Callable[[], Verdict] | None:
        """The check of the calls against their schemas, if this answer is among those that are checked."""
        selected, target = self._completion.selected, self._target
        if not target.schema_checks.wants(1.0 if selected is not None and selected.by_quality else target.judge):
            return None
        try:
            return self._exchange.schema_check()
        except AttributeError:
            return None

    def _checked(self, judged: JudgedAnswer, found: Verdict | None) -> None:
        if found is not None:
            judged.verdict = found
        self._count(judged.verdict, None)

    def _count(self, verdict: Verdict, error: BaseException | None) -> None:
        target, tools = self._target, self._tools
        target.answers.count(verdict, tools=tools)
        # A full vendor is not a bad one: 429 is left to the circuit breaker, else a small vendor could never be good.
        if tools and not (isinstance(error, GatewayError) and error.status == 429):
            target.score.record(verdict.worth, monotonic())
            target.signals.judged(target.name, verdict.worth)


def _verdict(exchange: Exchange, error: BaseException | None) -> Verdict | None:
    """None: no answer came that could be judged, because the request was wrong or never sent."""
    if error is None:
        try:
            return exchange.verdict
        except AttributeError:  # a transformer from outside that was written before there were verdicts
            return CLEAN
    if not isinstance(error, GatewayError):
        return ABORTED
    return FAILED if isinstance(error, BadUpstream) and is_failure(error) else None
