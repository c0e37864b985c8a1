"""The line on a terminal that says how far a run is: rate, time left, tokens and cost so far."""

from __future__ import annotations

import sys
from time import monotonic
from types import TracebackType
from typing import Final, Self, TextIO

from moongate.cli.tables import bar
from moongate.payload import JsonObject
from moongate.verify.summary import RunSummary
from moongate.verify.text_report import money

EVERY: Final = 0.2  # seconds


class ProgressLine:
    """A context manager; nothing is written unless the stream is a terminal."""

    def __init__(self, total: int, done: int, summary: RunSummary, stream: TextIO | None = None) -> None:
        self._total, self._before, self._done = total, done, done
        self._summary = summary
        self._stream = stream or sys.stderr
        self._shown = self._stream.isatty()
        self._started, self._last = monotonic(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            print("\r\033[K", end="", file=self._stream, flush=True)

    def row(self, _row: JsonObject) -> None:
        self._done += 1
        now = monotonic()
        if self._shown and (now - self._last >= EVERY or self._done == self._total):
            self._last = now
            print(f"\r\033[K{self.text(now)}", end="", file=self._stream, flush=True)

    def text(self, now: float) -> str:
        asked, seconds = self._done - self._before, max(now - self._started, 1e-9)
        left = (self._total - self._done) * seconds / asked if asked else 0.0
        share = self._done / self._total if self._total else 1.0
        spent = f"{self._summary.tokens:,} tokens, {money(self._summary.cost_micros)}"
        return f"{bar(share):<20} {self._done}/{self._total}  {asked / seconds:.1f}/s  {_clock(left)} left  {spent}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
