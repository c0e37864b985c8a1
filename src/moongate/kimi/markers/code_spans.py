"""Tags that are quoted as code stay (section 5.5): backticks of content, and the tags that wait for the closing ones.

A run of backticks opens a code span or a fenced block if a run of the same length follows; one that is never closed
opens none. So a tag behind an open run waits for the closing run, and with it the text behind it.
"""

from __future__ import annotations

import re
from typing import Final

MAX_SPAN_CHARS: Final = 65_536  # held back behind a tag; past this, the run before it opened nothing
MAX_RUNS: Final = 4096  # of other lengths inside an open run that are remembered

_RUNS: Final = re.compile("`+").finditer


class CodeSpans:
    """The runs of backticks of one text, which comes in pieces."""

    __slots__ = ("_run", "inner", "open")

    def __init__(self) -> None:
        self.open = 0  # the length of the run that may have opened a span, 0 if there is none
        self.inner: list[int] = []  # the runs behind it
        self._run = 0  # the length of the run at the end of the text so far, which may go on

    @property
    def pending(self) -> bool:
        """Whether the text so far ends with a backtick."""
        return self._run > 0

    def feed(self, text: str) -> bool:
        """The next text. Returns whether it closed the run that was open before it."""
        was_open, closed = self.open > 0, False
        if self._run and text[0] != "`":
            closed = self.end_run()
        for match in _RUNS(text):
            self._run += match.end() - match.start()
            if match.end() < len(text):
                closed = self.end_run() or closed
        return was_open and closed

    def end_run(self) -> bool:
        """Something else than a backtick follows. Returns whether that closed the open run."""
        run, self._run = self._run, 0
        if not run:
            return False
        if not self.open:
            self.open = run
        elif run == self.open:
            self.open, self.inner = 0, []
            return True
        elif len(self.inner) < MAX_RUNS:
            self.inner.append(run)
        return False

    @property
    def state(self) -> tuple[int, list[int], int]:
        """All that is known of the text so far, to go back to."""
        return self.open, list(self.inner), self._run

    @state.setter
    def state(self, state: tuple[int, list[int], int]) -> None:
        self.open, self.inner, self._run = state

    def give_up(self, count: int) -> None:
        """The open run opened nothing. The first `count` runs behind it are read again."""
        runs, self.inner, self.open = self.inner[:count], [], 0
        for self._run in runs:
            self.end_run()
