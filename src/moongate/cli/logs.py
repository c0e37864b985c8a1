"""`moongate logs`: shows the JSON lines of the log as readable text, and only those that are wanted."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, Final, get_args

from moongate.chat.verdict import Worth
from moongate.cli.console import Console
from moongate.cli.log_reader import entry_of, time_of
from moongate.dialects.fronts import FRONTS
from moongate.errors import ConfigError
from moongate.gateway.record.log_lines import missing_text, text_line
from moongate.gateway.ui.request_filter import request_filter
from moongate.payload import JsonObject, object_of

MAX_LINE: Final = 16 << 20  # bytes; a longer one is read as several
FILTERS: Final = {
    "key": ("NAME", "only of this client"),
    "model": ("NAME", "only of this model, as it was asked for or as its provider calls it"),
    "provider": ("NAME", "only of this provider"),
    "front": ("FRONT", "only of this front"),
    "status": ("STATUS", "only with this status: 429, ok, 4xx, 5xx"),
    "worth": ("WORTH", "only with answers of this worth"),
    "repair": ("KIND", "only with this kind of repair, or any"),
    "id": ("TEXT", "only with this in their id"),
}
CHOICES: Final = {"front": [each.dialect.name for each in FRONTS], "worth": get_args(Worth)}
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_STATUS: Final = re.compile("ok|[45]xx|[1-5][0-9][0-9]")
EPILOG: Final = """\
example:
  moongate logs moongate.log --status 5xx
  moongate logs - --worth damaged --since 2h < moongate.log
  moongate serve | moongate logs -

Filters are those of the page of requests at /ui. What is no line of a request is shown only without filters.
exit codes: 0 success, 2 the command line is wrong, or the file cannot be read"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="files with JSON lines, or - for standard input")
    for name, (value, about) in FILTERS.items():
        choices = CHOICES.get(name, ())
        listed = f"{about}: {', '.join(choices)}" if choices else about
        parser.add_argument(f"--{name}", default="", metavar=value, choices=choices or None, help=listed)
    parser.add_argument("--since", metavar="TIME", help="only of the last 30s, 15m, 2h or 3d")
    parser.add_argument("--slower", type=float, metavar="MS", help="only those that took longer than so many ms")
    parser.add_argument("--json", action="store_true", help="print the lines as they are")


def run(options: argparse.Namespace, console: Console) -> int:
    query = {name: getattr(options, name) for name in FILTERS}
    if options.status and not _STATUS.fullmatch(options.status):
        raise ConfigError(f"expected a status: 429, ok, 4xx or 5xx; found {options.status!r}", path="--status")
    is_wanted = _wanted(query, _oldest(options.since), options.slower)
    is_filtered = any(query.values()) or options.since is not None or options.slower is not None
    colour = sys.stdout.isatty() and "NO_COLOR" not in console.environ and console.environ.get("TERM") != "dumb"
    with ExitStack() as stack:
        files = [_opened(name, stack) for name in options.files]
        for raw in _lines(files):
            line = object_of(raw)
            if is_filtered and (line is None or not is_wanted(line)):
                continue
            shown = raw.rstrip(b"\r\n") + b"\n" if options.json else _shown(raw, line, colour)
            sys.stdout.write(shown.decode("utf-8", "replace"))
            sys.stdout.flush()  # a live log is read as it comes
    return 0


def _wanted(query: Mapping[str, str], oldest: float, slower: float | None) -> Callable[[JsonObject], bool]:
    matches = request_filter(query)

    def wanted(line: JsonObject) -> bool:
        took, when = line.get("duration_ms"), time_of(line)
        if slower is not None and not (isinstance(took, (int, float)) and took > slower):
            return False
        return when is not None and when >= oldest and matches(line)

    return wanted


def _shown(raw: bytes, line: JsonObject | None, colour: bool) -> bytes:
    lost = None if line is None else line.get("lost_lines")
    if type(lost) is int:
        return missing_text(lost)
    entry = None if line is None else entry_of(line)
    if entry is not None:
        return text_line(entry, colour)
    text = raw.rstrip(b"\r\n").decode("utf-8", "replace")
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text).encode() + b"\n"


def _oldest(since: str | None) -> float:
    """Seconds since 1970."""
    if since is None:
        return 0.0
    found = re.fullmatch(r"([0-9]{1,6})([smhd])", since)
    if found is None:
        raise ConfigError(f"expected a time like 30s, 15m, 2h or 3d, found {since!r}", path="--since")
    return time.time() - int(found[1]) * _UNITS[found[2]]


def _opened(name: str, stack: ExitStack) -> BinaryIO:
    if name == "-":
        return sys.stdin.buffer
    try:
        return stack.enter_context(Path(os.path.expanduser(name)).open("rb"))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=name) from error


def _lines(files: Iterable[BinaryIO]) -> Iterator[bytes]:
    for file in files:
        while line := file.readline(MAX_LINE):
            yield line
