"""A visit that is over, as a line of the access log and as numbers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from moongate.gateway.access_log import Entry
from moongate.gateway.account import account
from moongate.gateway.fronts import FRONTS
from moongate.gateway.outlet import MAX_COPY, Copying

if TYPE_CHECKING:
    from moongate.gateway.visit import Visit


def logged(visit: Visit) -> Entry:
    """Its line; counts on the way. No secret is in it, whatever the client or the provider said."""
    now = time.perf_counter()
    turn, clean = visit.turn, visit.state.redactor.clean
    is_turn = visit.path in FRONTS
    provider = model = ""
    notes: dict[str, int] = {}
    if turn is not None and turn.target is not None:
        provider, model = turn.target.provider, turn.target.model
        meter = turn.target.meter(visit.front.name)
        notes = account(visit.gateway.metrics, meter, turn, visit.status, now - visit.began)
    elif is_turn:
        visit.gateway.metrics.count(
            "moongate_requests_total", model="", provider="", front=visit.front.name, status=str(visit.status)
        )
    error = visit.error
    if turn is not None and turn.failure is not None and not error:
        error = clean(str(turn.failure))
    return Entry(
        time.time(),
        visit.id.decode("ascii"),
        visit.client.name if visit.client is not None else "",
        visit.front.name if is_turn else "",
        visit.method,
        visit.path if is_turn else clean(visit.path)[:200],
        _asked_model(visit),
        provider,
        model,
        visit.status,
        turn is not None and turn.streamed,
        turn.first - visit.began if turn is not None and turn.first is not None else None,
        now - visit.began,
        turn.usage if turn is not None else None,
        notes,
        turn.attempts if turn is not None else 0,
        error,
        _bodies(visit),
    )


def _asked_model(visit: Visit) -> str:
    model = visit.turn.asked_model if visit.turn is not None else ""
    return model if visit.state.routes.is_name(model) else visit.state.redactor.clean(model[:4096])[:200]


def _bodies(visit: Visit) -> tuple[str, str] | None:
    """What was asked and answered, if the log is to show it."""
    if not isinstance(visit.outlet, Copying):
        return None
    clean = visit.state.redactor.clean
    asked, answered = visit.asked[:MAX_COPY], bytes(visit.outlet.copy)
    return clean(asked.decode("utf-8", "replace")), clean(answered.decode("utf-8", "replace"))
