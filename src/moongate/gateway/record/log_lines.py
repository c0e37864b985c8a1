"""The lines of the access log: as JSON, or as text for a terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moongate.payload import dumps

if TYPE_CHECKING:
    from moongate.gateway.http.verdict_recorder import JudgedAnswer
    from moongate.gateway.routing.selector import RouteReport

# Every field of a JSON line, in order, and what it holds. docs/log.md is made from it.
FIELDS: Final = {
    "time": "when the answer was complete, in UTC",
    "id": "the request's id; answers have it in `x-request-id`",
    "client": "the name of the client's key: `own` if made at first start, `key1` … if it has none; empty if refused",
    "front": "`chat`, `messages` or `responses`; empty if no model was asked",
    "method": "the HTTP method",
    "path": "the path, without its query",
    "asked": "the model that the client named",
    "provider": "the provider that was asked last; empty if none was",
    "model": "the model that was asked last, as its provider calls it",
    "status": "the HTTP status; 499 if the client left before one was sent",
    "stream": "whether the client wanted a stream",
    "first_byte_ms": "milliseconds until the first byte of the answer; null if none was sent",
    "duration_ms": "milliseconds until the end of the answer",
    "attempts": "requests to providers; retries, fallbacks and further tries of the guard included",
    "input_tokens": "as the provider counted them; absent if it did not",
    "output_tokens": "as the provider counted them; absent if it did not",
    "notes": "repairs by kind, and how many of each",
    "worth": "what the answer was worth: `clean`, `repaired`, `damaged`, `failed` or `aborted`; absent if none came",
    "damage": "what is damaged in a damaged answer",
    "tries": "answers of the provider, those that the [guard](guard.md) replaced included; absent if there was one",
    "cost_usd": "what the answer cost, in dollars; absent if its tokens or their prices are not known",
    "route": "of a [route](routing.md): its name, strategy, the reason of the choice, and the target's quality",
    "error": "what went wrong; absent if nothing did",
    "request": "the body of the request; only with `log.bodies`",
    "answer": "the body of the answer; only with `log.bodies`",
    "lost_lines": "lines that could not be written before this one; it has only `time` besides",
}
COMMON_KEYS: Final = ("client", "front", "method", "path", "asked", "provider", "model", "status", "stream")


class Entry(NamedTuple):
    """The data of one line. Times are in seconds; `notes` counts repairs by kind."""

    when: float
    id: bytes
    client: str
    front: str
    method: str
    path: str
    requested: str  # the model that the client named; "asked" in a JSON line
    provider: str
    model: str
    status: int
    streamed: bool
    first_byte: float | None
    duration: float
    usage: Mapping[str, Any] | None
    notes: Mapping[str, int]
    attempts: int
    error: str  # "" if there was none
    bodies: tuple[str, str] | None = None  # of request and answer
    cost: int | None = None  # millionths of a dollar; None: unknown
    route: RouteReport | None = None  # how the target was chosen
    judged: JudgedAnswer | None = None


def json_line(entry: Entry, colour: bool = False) -> bytes:  # noqa: ARG001 (the same form as text_line)
    when, first, duration = entry.when, entry.first_byte, entry.duration
    whole = int(when)
    return b'{"time":"%b.%03dZ","id":"%b",%b,"first_byte_ms":%b,"duration_ms":%.1f,"attempts":%d,%b\n' % (
        _timestamp(whole),
        int((when - whole) * 1000),
        entry.id,
        _common(entry[2:11]),
        b"null" if first is None else b"%.1f" % (first * 1e3),
        duration * 1e3,
        entry.attempts,
        _rest(entry),
    )


@lru_cache(maxsize=1024)
def _common(values: tuple[object, ...]) -> bytes:
    """The part that most lines of a client have in common."""
    return dumps(dict(zip(COMMON_KEYS, values, strict=True)))[1:-1]


def _rest(entry: Entry) -> bytes:
    """The end of a line, with the closing bracket."""
    usage, notes = entry.usage, entry.notes
    if usage and not notes and not entry.error and entry.bodies is None:
        read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if type(read) is int and type(written) is int:
            return b'"input_tokens":%d,"output_tokens":%d,"notes":{}%b}' % (read, written, _worth(entry))
    first = dumps({**_tokens(usage), "notes": notes})[1:-1] + _worth(entry)
    rest: dict[str, Any] = {}
    if entry.error:
        rest["error"] = entry.error
    if entry.bodies is not None:
        rest["request"], rest["answer"] = entry.bodies
    return first + (b"," + dumps(rest)[1:] if rest else b"}")


def _worth(entry: Entry) -> bytes:
    """What the answer was worth, what it cost, and who was chosen to give it; each after a comma."""
    out = b""
    if entry.judged is not None:
        verdict = entry.judged.verdict
        out = b',"worth":"%b"' % verdict.worth.encode()
        if verdict.kinds:
            out += b',"damage":' + dumps(verdict.kinds)
        if entry.judged.tries > 1:
            out += b',"tries":%d' % entry.judged.tries
    if entry.cost is not None:
        out += b',"cost_usd":%.6f' % (entry.cost / 1e6)
    return out if entry.route is None else out + b"," + entry.route.json


def missing_json(lines: int) -> bytes:
    """The line that stands for lines that were lost."""
    return b'{"time":"%b.000Z","lost_lines":%d}\n' % (_timestamp(int(time.time())), lines)


def missing_text(lines: int) -> bytes:
    return b"%b  %d lines of the log were lost\n" % (_timestamp(int(time.time()))[11:], lines)


def text_line(entry: Entry, colour: bool = False) -> bytes:
    status = str(entry.status)
    if colour:
        status = f"\033[{32 if entry.status < 400 else 33 if entry.status < 500 else 31}m{status}\033[0m"
    target = f"{entry.provider},{entry.model}" if entry.provider else entry.requested or "-"
    parts = [entry.client or "-", f"{entry.method} {entry.path}", target]
    if entry.first_byte is not None:
        parts.append(f"first {entry.first_byte * 1e3:.0f} ms")
    parts.append(f"{entry.duration * 1e3:.0f} ms")
    tokens = _tokens(entry.usage)
    if tokens:
        parts.append(f"{tokens.get('input_tokens', '?')}+{tokens.get('output_tokens', '?')} tokens")
    parts.extend(f"{kind} x{count}" for kind, count in entry.notes.items())
    if entry.judged is not None and entry.judged.verdict.worth != "clean":
        parts.append(" ".join([entry.judged.verdict.worth, *entry.judged.verdict.kinds]))
    if entry.cost is not None:
        parts.append(f"${entry.cost / 1e6:.6f}")
    if entry.route is not None:
        parts.append(entry.route.text)
    if entry.attempts > 1:
        parts.append(f"{entry.attempts} attempts")
    parts += [entry.id.decode(), entry.error] if entry.error else [entry.id.decode()]
    line = "  ".join(
        [
            _timestamp(int(entry.when))[11:].decode("ascii"),
            status,
            *(_escaped(" ".join(each.split())) for each in parts),
        ]
    )
    if entry.bodies is not None:
        request, answer = ("\n".join(map(_escaped, body.split("\n"))) for body in entry.bodies)
        line += f"\n  > {request}\n  < {answer}"
    return line.encode("utf-8", "backslashreplace") + b"\n"


def _escaped(text: str) -> str:
    """The text with control characters escaped, which a terminal would obey."""
    if text.isprintable():
        return text
    return "".join([each if each.isprintable() else ascii(each)[1:-1] for each in text])


def _tokens(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    if not usage:
        return {}
    return {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")}


@lru_cache(maxsize=8)
def _timestamp(whole: int) -> bytes:
    """To the second, cached: the lines of one second share it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)).encode("ascii")
