"""Before a request is sent: may its key use the model, do shared limits allow it, and its cost is reserved."""

from __future__ import annotations

from moongate.errors import Forbidden, Overloaded
from moongate.gateway.http.auth import Client
from moongate.gateway.http.limit_errors import limit_error
from moongate.gateway.limits.limit_set import Refusal
from moongate.gateway.limits.limiter import Admission
from moongate.gateway.routing.route import Route
from moongate.gateway.server.response_writer import HeaderList
from moongate.gateway.state import GatewayState
from moongate.gateway.store.accounting import UsageEntry, UsageKey
from moongate.gateway.target import Target
from moongate.payload import JsonObject
from moongate.prices.tokens import answer_limit, estimated_prompt


def require_allowed(client: Client, requested: str, route: Route) -> None:
    """Raises Forbidden if the key's list of models has none of the model's names."""
    if client.allowed and not client.may_use(requested, route.model, route.name):
        raise Forbidden(f"This client key may not use the model {route.name!r}", code="model_not_allowed")


def reserve(
    state: GatewayState,
    admission: Admission,
    usage_key: UsageKey,
    request_id: bytes,
    target: Target,
    size: int,
    chat: JsonObject,
) -> UsageEntry:
    """Reserve what a request of `size` bytes may cost at its first target. Raises GatewayError."""
    assert state.store is not None
    accounting = state.store.accounting
    if accounting.has_no_room:
        raise Overloaded("Usage cannot be recorded: the journal is full", code="store_full", retry_after=30)
    prompt, answer = estimated_prompt(size), answer_limit(chat)
    entry = accounting.begin(admission, usage_key, request_id, prompt, answer, target.prices)
    if isinstance(entry, Refusal):
        state.metrics.count("moongate_limited_total", limit=entry.limit)
        raise limit_error(entry)
    return entry


async def check_shared_limits(
    state: GatewayState,
    admission: Admission,
    target: Target | None = None,
    size: int = 0,
    chat: JsonObject | None = None,
) -> None:
    """Check the limits that gateways share through Redis, if they do. Before `reserve`. Raises GatewayError."""
    if state.shared is None:
        return
    tokens, prompt = 0, 0
    price: int | None = 0
    if target is not None and state.store is not None:
        prompt, answer = estimated_prompt(size), answer_limit(chat or {})
        tokens, price = prompt + answer, None
        if target.prices is not None:
            price = target.prices.upper_bound(prompt, answer)
    refusal = await state.shared.limits.begin(admission, tokens, prompt, price)
    if refusal is not None:
        state.metrics.count("moongate_limited_total", limit=refusal.limit)
        raise limit_error(refusal)


def budget_warning(state: GatewayState, admission: Admission) -> HeaderList:
    """A header for the answer if most of a budget is spent."""
    if not admission.is_nearly_spent():
        return []
    state.metrics.count("moongate_budget_warnings_total")
    return [(b"x-moongate-budget-used", b"%d%%" % int(admission.used_share() * 100))]
