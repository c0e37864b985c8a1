"""JSON lines of the access log → the entries that they were made of, so that they can be shown as text."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from moongate.chat.verdict import Verdict
from moongate.gateway.http.verdict_recorder import JudgedAnswer
from moongate.gateway.record.log_lines import Entry
from moongate.gateway.routing.selector import RouteReport
from moongate.payload import JsonObject

_TEXTS: Final = ("client", "front", "method", "path", "asked", "provider", "model")


def entry_of(line: JsonObject) -> Entry | None:
    """None: it is no line of a request. A field that is no good is as if it were absent."""
    when = time_of(line)
    if when is None or not isinstance(line.get("id"), str) or type(line.get("status")) is not int:
        return None
    read, written = line.get("input_tokens"), line.get("output_tokens")
    usage = {"prompt_tokens": read, "completion_tokens": written} if "input_tokens" in line else None
    notes = line.get("notes")
    first, cost = _number(line, "first_byte_ms"), _number(line, "cost_usd")
    client, front, method, path, asked, provider, model = (_text(line, name) for name in _TEXTS)
    return Entry(
        when=when,
        id=line["id"].encode("utf-8", "replace"),
        client=client,
        front=front,
        method=method,
        path=path,
        requested=asked,
        provider=provider,
        model=model,
        status=line["status"],
        streamed=line.get("stream") is True,
        first_byte=None if first is None else first / 1e3,
        duration=(_number(line, "duration_ms") or 0) / 1e3,
        usage=usage,
        notes=notes if isinstance(notes, dict) else {},
        attempts=int(_number(line, "attempts") or 0),
        error=_text(line, "error"),
        bodies=_bodies(line),
        cost=None if cost is None else round(cost * 1e6),
        route=_route(line.get("route")),
        judged=_judged(line),
    )


def time_of(line: JsonObject) -> float | None:
    try:
        return datetime.fromisoformat(_text(line, "time")).timestamp()
    except ValueError:
        return None


def _text(line: JsonObject, name: str) -> str:
    value = line.get(name)
    return value if isinstance(value, str) else ""


def _number(line: JsonObject, name: str) -> float | None:
    value = line.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if abs(value) < 1 << 40 else None


def _bodies(line: JsonObject) -> tuple[str, str] | None:
    return (_text(line, "request"), _text(line, "answer")) if "request" in line else None


def _judged(line: JsonObject) -> JudgedAnswer | None:
    damage = line.get("damage")
    kinds = tuple(map(str, damage)) if isinstance(damage, list) else ()
    worth: Any = _text(line, "worth")
    return JudgedAnswer(Verdict(worth, kinds)) if worth else None


def _route(route: object) -> RouteReport | None:
    if not isinstance(route, dict):
        return None
    return RouteReport((b"", b""), b"", f"{route.get('name')} ({route.get('reason')})", 0)
