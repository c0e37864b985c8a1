"""A visit that is over, as a line of the access log and as numbers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from moongate.gateway.access_log import Entry
from moongate.gateway.account import NOTHING, account
from moongate.gateway.outlet import MAX_COPY, Copying

if TYPE_CHECKING:
    from moongate.gateway.turn import Turn
    from moongate.gateway.visit import Visit


def logged(visit: Visit) -> Entry:
    """Its line; counts on the way. No secret is in it, whatever the client or the provider said."""
    now = time.perf_counter()
    turn, began, error = visit.turn, visit.began, visit.error
    asked = provider = model = ""
    streamed, first, usage, attempts = False, None, None, 0
    notes: Mapping[str, int] = NOTHING
    if turn is not None:
        asked, streamed, usage, attempts = _asked_model(visit, turn), turn.streamed, turn.usage, turn.attempts
        if turn.first is not None:
            first = turn.first - began
        if turn.failure is not None and not error:
            error = visit.state.redactor.clean(str(turn.failure))
    if turn is not None and turn.target is not None:
        provider, model = turn.target.provider, turn.target.model
        notes = account(turn.target.meter(visit.front.name), turn, visit.status, now - began)
    elif visit.is_turn:
        visit.gateway.metrics.count(
            "moongate_requests_total", model="", provider="", front=visit.front.name, status=str(visit.status)
        )
    # Without the detour of a named tuple's own `__new__`.
    return tuple.__new__(
        Entry,
        (
            time.time(),
            visit.id,
            visit.client.name if visit.client is not None else "",
            visit.front.name if visit.is_turn else "",
            visit.method,
            visit.path if visit.is_turn else visit.state.redactor.clean(visit.path)[:200],
            asked,
            provider,
            model,
            visit.status,
            streamed,
            first,
            now - began,
            usage,
            notes,
            attempts,
            error,
            _bodies(visit) if visit.state.log_bodies else None,
        ),
    )


def _asked_model(visit: Visit, turn: Turn) -> str:
    model = turn.asked_model
    return model if visit.state.routes.is_name(model) else visit.state.redactor.clean(model[:4096])[:200]


def _bodies(visit: Visit) -> tuple[str, str] | None:
    """What was asked and answered, if the log is to show it."""
    if not isinstance(visit.outlet, Copying):
        return None
    clean = visit.state.redactor.clean
    asked, answered = visit.asked[:MAX_COPY], bytes(visit.outlet.copy)
    return clean(asked.decode("utf-8", "replace")), clean(answered.decode("utf-8", "replace"))
