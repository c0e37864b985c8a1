"""The access log: one line per request, collected as tuples, formatted by a timer, written by a thread.

Prompts and answers are only in a line if the configuration asks for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from moongate.gateway.record.log_lines import Entry, json_line, missing_json, missing_text, text_line
from moongate.gateway.record.log_writer import LogWriter
from moongate.gateway.record.messages import print_message

FLUSH_SECONDS: Final = 0.5
FORMATS: Final = {"json": (json_line, missing_json), "text": (text_line, missing_text)}


class AccessLog:
    """`add` from the event loop; `flush` from a timer; `close` writes the rest.

    `dropped` is told, in the event loop, how many lines were lost since the last time; `warn` prints a message. `keep`
    is given the lines of all requests to models as JSON, whatever the style is.
    """

    def __init__(
        self,
        descriptor: int,
        *,
        style: str,
        dropped: Callable[[int], None] = lambda _: None,
        keep: Callable[[Sequence[bytes]], None] | None = None,
        warn: Callable[[str], None] = print_message,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._dropped = dropped
        self._lost = 0  # as `dropped` knows it
        self._entries: list[Entry] = []
        self._keep = keep
        self._is_json = style == "json"
        self._writer: LogWriter | None = None
        self.add: Callable[[Entry], None] = _discard
        if style in FORMATS:
            self._format, missing = FORMATS[style]
            self._colour = style == "text" and _takes_colour(descriptor, environ)
            self._writer = LogWriter(descriptor, missing, warn)
        if style in FORMATS or keep is not None:
            self.add = self._entries.append

    def flush(self) -> None:
        """Format the waiting lines and hand them to the writer."""
        writer, entries = self._writer, self._entries[:]
        self._entries.clear()  # the same list: `add` is its append
        lines: list[bytes] = []
        if entries and writer is not None:
            lines = [self._format(entry, self._colour) for entry in entries]
            writer.write(b"".join(lines), len(entries))
        if entries and self._keep is not None:
            self._keep([self._kept(entry, lines, at) for at, entry in enumerate(entries) if entry.front])
        if writer is not None and writer.lost != self._lost:
            lost = writer.lost - self._lost
            self._lost += lost
            self._dropped(lost)

    def _kept(self, entry: Entry, lines: list[bytes], at: int) -> bytes:
        """The line of an entry as JSON, without bodies; mostly it is written already."""
        return lines[at] if self._is_json and entry.bodies is None else json_line(entry._replace(bodies=None))

    def close(self, seconds: float = 2.0) -> None:
        """Write the rest, but wait no longer than `seconds` for it."""
        self.flush()
        if self._writer is not None:
            self._writer.close(seconds)
            self.flush()


def style_for(setting: str, descriptor: int) -> str:
    """`auto` is text on a terminal, else JSON."""
    if setting != "auto":
        return setting
    return "text" if os.isatty(descriptor) else "json"


def standard_output() -> int:
    """The descriptor of standard output, also when `sys.stdout` was replaced by something without one."""
    try:
        return sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return 1


def _takes_colour(descriptor: int, environ: Mapping[str, str]) -> bool:
    return os.isatty(descriptor) and "NO_COLOR" not in environ and environ.get("TERM") != "dumb"


def _discard(entry: Entry) -> None:
    """Used when the log is off."""
