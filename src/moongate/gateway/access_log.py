"""One line per request, written apart from the request: collected as tuples, formed and written by a timer.

The writing happens in a thread of its own, so a reader that does not read (a full pipe, a slow disk) stops nothing;
lines that wait too long are dropped and counted. Prompts and answers are never in a line unless asked for.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from moongate.payload import dumps

MAX_WAITING: Final = 20_000  # lines
FLUSH_SECONDS: Final = 0.5
ABOUT: Final = ("client", "front", "method", "path", "asked", "provider", "model", "status", "stream")


class Entry(NamedTuple):
    """What one line says. Times are in seconds; `notes` counts repairs by kind."""

    when: float
    id: bytes
    client: str
    front: str
    method: str
    path: str
    asked: str  # the model that the client named
    provider: str
    model: str
    status: int
    streamed: bool
    first_byte: float | None
    duration: float
    usage: Mapping[str, Any] | None
    notes: Mapping[str, int]
    attempts: int
    error: str  # what went wrong, "" if nothing did
    bodies: tuple[str, str] | None = None  # the client's request and our answer


class AccessLog:
    """`add` from the event loop; `flush` from a timer; `close` at the end writes what is left."""

    def __init__(self, descriptor: int, *, style: str, dropped: Callable[[int], None] = lambda _: None) -> None:
        self._form = {"json": json_line, "text": text_line}.get(style)
        self._colour = style == "text" and os.isatty(descriptor)
        self._descriptor = descriptor
        self._dropped = dropped
        self._entries: list[Entry] = []
        self._blocks: queue.SimpleQueue[tuple[bytes, int] | None] = queue.SimpleQueue()
        self._handed = 0  # lines given to the writer
        self._written = 0  # lines it is done with
        self._writer: threading.Thread | None = None
        self.add = self._entries.append if self._form is not None else _ignore

    def flush(self) -> None:
        """Form the waiting lines and hand them to the writer."""
        if not self._entries or self._form is None:
            return
        entries = self._entries[:]
        self._entries.clear()  # the same list: `add` is its append
        if self._handed - self._written + len(entries) > MAX_WAITING:
            self._dropped(len(entries))
            return
        block = b"".join([self._form(entry, self._colour) for entry in entries])
        if self._writer is None:
            self._writer = threading.Thread(target=self._write, name="access-log", daemon=True)
            self._writer.start()
        self._handed += len(entries)
        self._blocks.put((block, len(entries)))

    def close(self, seconds: float = 2.0) -> None:
        """Write what is left, but wait no longer than `seconds` for a reader that does not read."""
        self.flush()
        if self._writer is not None:
            self._blocks.put(None)
            self._writer.join(seconds)

    def _write(self) -> None:
        while (waiting := self._blocks.get()) is not None:
            block, lines = waiting
            view = memoryview(block)
            with contextlib.suppress(OSError):  # nobody reads any more: the gateway goes on without a log
                while view:
                    # Compiled code asks for a bound twice: a call in it would write twice.
                    written = os.write(self._descriptor, view)
                    view = view[written:]
            self._written += lines


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


def json_line(entry: Entry, colour: bool = False) -> bytes:  # noqa: ARG001 (the same form as text_line)
    when, first, duration = entry.when, entry.first_byte, entry.duration
    whole = int(when)
    return b'{"time":"%b.%03dZ","id":"%b",%b,"first_byte_ms":%b,"duration_ms":%.1f,"attempts":%d,%b\n' % (
        _second(whole),
        int((when - whole) * 1000),
        entry.id,
        _about(entry[2:11]),
        b"null" if first is None else b"%.1f" % (first * 1e3),
        duration * 1e3,
        entry.attempts,
        _rest(entry),
    )


@lru_cache(maxsize=1024)
def _about(values: tuple[object, ...]) -> bytes:
    """What most requests of a client have in common."""
    return dumps(dict(zip(ABOUT, values, strict=True)))[1:-1]


def _rest(entry: Entry) -> bytes:
    """What comes last in a line, with the bracket that ends it."""
    usage, notes = entry.usage, entry.notes
    if usage and not notes and not entry.error and entry.bodies is None:
        read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if type(read) is int and type(written) is int:
            return b'"input_tokens":%d,"output_tokens":%d,"notes":{}}' % (read, written)
    rest: dict[str, Any] = {**_tokens(usage), "notes": notes}
    if entry.error:
        rest["error"] = entry.error
    if entry.bodies is not None:
        rest["request"], rest["answer"] = entry.bodies
    return dumps(rest)[1:]


def text_line(entry: Entry, colour: bool = False) -> bytes:
    status = str(entry.status)
    if colour:
        status = f"\033[{32 if entry.status < 400 else 33 if entry.status < 500 else 31}m{status}\033[0m"
    target = f"{entry.provider},{entry.model}" if entry.provider else entry.asked or "-"
    parts = [f"{entry.method} {entry.path}", target]
    if entry.first_byte is not None:
        parts.append(f"first {entry.first_byte * 1e3:.0f} ms")
    parts.append(f"{entry.duration * 1e3:.0f} ms")
    tokens = _tokens(entry.usage)
    if tokens:
        parts.append(f"{tokens.get('input_tokens', '?')}+{tokens.get('output_tokens', '?')} tokens")
    parts.extend(f"{kind} x{count}" for kind, count in entry.notes.items())
    if entry.attempts > 1:
        parts.append(f"{entry.attempts} attempts")
    parts += [entry.id.decode(), entry.error] if entry.error else [entry.id.decode()]
    line = "  ".join(
        [_second(int(entry.when))[11:].decode("ascii"), status, *(_shown(" ".join(each.split())) for each in parts)]
    )
    if entry.bodies is not None:
        asked, answered = ("\n".join(map(_shown, body.split("\n"))) for body in entry.bodies)
        line += f"\n  > {asked}\n  < {answered}"
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _shown(text: str) -> str:
    """Escaped where it would tell the terminal something."""
    if text.isprintable():
        return text
    return "".join([each if each.isprintable() else ascii(each)[1:-1] for each in text])


def _tokens(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    if not usage:
        return {}
    return {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")}


@lru_cache(maxsize=8)
def _second(whole: int) -> bytes:
    """Lines of one second share it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)).encode("ascii")


def _ignore(entry: Entry) -> None:
    """The log is off."""
