"""Counts requests, tokens and money by client, for as many clients as the configuration wants.

A metric must have few label values, and keys may be any number: clients beyond the limit count together as `other`.
"""

from __future__ import annotations

from typing import Final

from moongate.gateway.record.metrics import Metrics
from moongate.payload import JsonObject
from moongate.prices.tokens import counts_of

OTHER: Final = "other"


class ClientCounters:
    """`count` for every finished request to a model. `names` are the clients that are counted apart."""

    __slots__ = ("_limit", "_metrics", "names")

    def __init__(self, metrics: Metrics, limit: int, old: ClientCounters | None = None) -> None:
        """`old`: those of the configuration before, whose metrics exist already."""
        self._metrics, self._limit = metrics, limit
        self.names: set[str] = set() if old is None else old.names

    def count(self, client: str, status: int, usage: JsonObject | None, cost: int | None) -> None:
        """`cost` in millionths of a dollar; None: it is not known."""
        if not self._limit:
            return
        if client not in self.names:
            if len(self.names) >= self._limit:
                client = OTHER
            else:
                self.names.add(client)
        metrics, values = self._metrics, self._metrics.values
        metrics.count("moongate_client_requests_total", client=client, status=str(status))
        counts = counts_of(usage)
        if counts is not None:
            read = counts.input + counts.cache_read + counts.cache_write
            for kind, tokens in (("input", read), ("cached", counts.cache_read), ("output", counts.output)):
                values[metrics.counter("moongate_client_tokens_total", client=client, kind=kind)] += tokens
        if cost is not None:
            values[metrics.counter("moongate_client_cost_dollars_total", client=client)] += cost
