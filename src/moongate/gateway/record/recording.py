"""What a finished request leaves behind: numbers in the metrics and one entry for the access log."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from moongate.chat.note_sequences import count_repairs
from moongate.gateway.http.pass_through import FRONT as PASSED_THROUGH
from moongate.gateway.http.pass_through import PassThroughRequest
from moongate.gateway.inspect.capturing import CapturingResponseWriter
from moongate.gateway.record.log_lines import Entry
from moongate.gateway.record.target_counters import TargetCounters
from moongate.gateway.server.response_writer import MAX_COPY, CopyingResponseWriter
from moongate.payload import JsonObject
from moongate.prices.summed import summed_usage
from moongate.prices.tokens import TokenCounts, counts_of

if TYPE_CHECKING:
    from moongate.gateway.http.completion import Completion
    from moongate.gateway.http.request_handler import RequestHandler
    from moongate.gateway.target import Target

AnyCompletion: TypeAlias = "Completion | PassThroughRequest"
MAX_SECRET: Final = 4096  # characters of a secret in any spelling
NO_NOTES: Final[Mapping[str, int]] = {}


def record(handler: RequestHandler) -> Entry:
    """Count a finished request and make its log entry. No secret is in it, whatever client or provider sent."""
    now = time.perf_counter()
    completion = handler.completion
    if completion is None:
        if handler.is_completion:
            _count_without_target(handler)
        return _entry(handler, None, now, None, NO_NOTES, None)
    usage = total_usage(completion)
    if completion.target is None:
        _count_without_target(handler)
        return _entry(handler, completion, now, usage, NO_NOTES, None)
    notes, cost = _count_with_target(handler, completion, completion.target, usage, now - handler.started_at)
    return _entry(handler, completion, now, usage, notes, cost)


def _entry(
    handler: RequestHandler,
    completion: AnyCompletion | None,
    now: float,
    usage: JsonObject | None,
    notes: Mapping[str, int],
    cost: int | None,
) -> Entry:
    asked, provider, model, front, error = "", "", "", "", handler.error
    streamed, first_byte, attempts, route, judged = False, None, 0, None, None
    client = handler.client.name if handler.client is not None else ""
    if completion is not None:
        asked, streamed = _requested_model(handler, completion), completion.streamed
        attempts, judged = completion.attempts, completion.judged
        route = None if completion.selected is None else completion.selected.report
        first_byte = None if completion.first_byte_at is None else completion.first_byte_at - handler.started_at
        if completion.failure is not None and not error:  # a stream failed after it had begun
            error = handler.state.redactor.redact(str(completion.failure))
        if completion.target is not None:
            provider, model = completion.target.provider, completion.target.model
    if handler.is_completion or completion is not None:
        front = _front(handler)
        if handler.client is not None:
            handler.state.client_counters.count(client, handler.status, usage, cost)
    path = handler.path if handler.is_completion else handler.state.redactor.redact(handler.path)[:200]
    bodies = bodies_of(handler) if handler.state.log_bodies else None
    # Entry(…) would run the named tuple's own `__new__`, a Python function, once more for every request.
    who: tuple[object, ...] = (time.time(), handler.id, client, front, handler.method, path, asked, provider, model)
    how = (handler.status, streamed, first_byte, now - handler.started_at, usage, notes, attempts, error)
    return tuple.__new__(Entry, who + how + (bodies, cost, route, judged))


def _front(handler: RequestHandler) -> str:
    return PASSED_THROUGH if isinstance(handler.completion, PassThroughRequest) else handler.dialect.name


def _count_without_target(handler: RequestHandler) -> None:
    """Count a completion that never came to an attempt, and give back what was reserved for it."""
    completion, store = handler.completion, handler.state.store
    if completion is not None and completion.usage_entry is not None and store is not None:
        store.accounting.drop(completion.usage_entry)
    labels = {"front": _front(handler), "status": str(handler.status)}
    handler.gateway.metrics.count("moongate_requests_total", model="", provider="", **labels)


def _count_with_target(
    handler: RequestHandler, completion: AnyCompletion, target: Target, usage: JsonObject | None, duration: float
) -> tuple[Mapping[str, int], int | None]:
    """Count a completion, settle what was reserved for it, and journal what it took. Gives its repairs by kind, and
    what it cost."""
    counters = target.counters(_front(handler))
    notes = _count(counters, completion, handler.status, usage, duration)
    counts = counts_of(usage)
    cost = None if counts is None or target.prices is None else target.prices.cost(counts)
    if completion.response_started:
        counters.count_cost(cost)
    if completion.selected is not None and completion.selected.report is not None:
        handler.gateway.metrics.values[completion.selected.report.slot] += 1
    entry, store = completion.usage_entry, handler.state.store
    if entry is None or store is None:
        return notes, cost
    first_byte = None if completion.first_byte_at is None else completion.first_byte_at - handler.started_at
    kept = store.accounting.end(
        entry,
        completion.usage_key(target),
        counts,
        cost if cost is not None else _charge(target, counts),
        (handler.status, completion.attempts, sum(notes.values()) if notes else 0, first_byte, duration),
        billable=completion.billable,
        known=_known_usages(completion),
    )
    if not kept:
        handler.gateway.metrics.count("moongate_usage_lost_total")
    return notes, cost


def _charge(target: Target, counts: TokenCounts | None) -> int | None:
    """What an answer takes of a budget if its cost is not known."""
    return None if counts is None or target.prices is None else target.prices.charge(counts)


def total_usage(completion: AnyCompletion) -> JsonObject | None:
    """The tokens of all answers, those that the guard replaced included; the client sees those of its answer."""
    if not completion.replaced:
        return completion.usage
    return summed_usage([completion.usage, *(replaced.usage for replaced in completion.replaced)])


def _known_usages(completion: AnyCompletion) -> int:
    """How many answers the total usage is of. With one answer it is not asked for unless it has a usage."""
    if not completion.replaced:
        return 1
    usages = [completion.usage, *(replaced.usage for replaced in completion.replaced)]
    return sum(counts_of(usage) is not None for usage in usages)


def _count(
    counters: TargetCounters, completion: AnyCompletion, status: int, usage: JsonObject | None, duration: float
) -> Mapping[str, int]:
    """Count one completion. Gives its repairs by kind, for the log."""
    first_byte = None if completion.first_byte_at is None else completion.first_byte_at - completion.started_at
    counters.count_request(status, duration, first_byte)
    if usage is not None:
        counters.count_tokens(usage)
    if not completion.notes:
        return NO_NOTES
    kinds: dict[str, int] = {}
    for (kind, mends), number in count_repairs(completion.notes).items():
        kinds[kind] = kinds.get(kind, 0) + number
        counters.count_repairs(kind, mends, number)
    return kinds


def _requested_model(handler: RequestHandler, completion: AnyCompletion) -> str:
    model = completion.requested_model
    if handler.state.routes.is_name(model):
        return model
    return handler.state.redactor.redact(model)[:200] if len(model) <= 4096 else f"({len(model)} characters)"


def bodies_of(handler: RequestHandler) -> tuple[str, str] | None:
    """The request and the answer, if the log or a trace is to show them."""
    writer = handler.writer.wrapped if isinstance(handler.writer, CapturingResponseWriter) else handler.writer
    if not isinstance(writer, CopyingResponseWriter):
        return None
    redact = handler.state.redactor.redact
    return _beginning(handler.request_body, redact), _beginning(bytes(writer.copy), redact)


def _beginning(data: bytes, redact: Callable[[str], str]) -> str:
    """As much of a body as the log shows. Its end is left out if it was cut, perhaps within a secret."""
    text = redact(data[:MAX_COPY].decode("utf-8", "replace"))
    return text if len(data) < MAX_COPY else text[:-MAX_SECRET]
