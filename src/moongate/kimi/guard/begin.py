"""Puts an exchange under the guard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moongate.kimi.exchange import KimiExchange
from moongate.kimi.guard.calls import CallGuard
from moongate.kimi.guard.exchange import Begin, GuardedExchange
from moongate.kimi.guard.tool_schemas import ToolSchemas

SCHEMAS: Final = ToolSchemas()  # what it holds depends on nothing but the schemas, so that sharing it shares no state


def guarded(
    request: Mapping[str, Any], exchange: KimiExchange, begin: Begin | None, *, takes_seed: bool
) -> GuardedExchange:
    """`begin` makes the exchange of a further try; None: none is made."""
    answer = exchange.answer
    repair = answer.repaired_arguments if answer.options.repair_arguments else None
    client_request = request if isinstance(request, dict) else dict(request)
    return GuardedExchange(client_request, exchange, CallGuard(client_request, SCHEMAS, repair), begin, takes_seed)
