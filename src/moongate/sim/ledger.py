"""What the simulator has billed: one entry for each chat request, to compare a gateway's own books with."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Final

from moongate.payload import JsonObject

MAX_ENTRIES: Final = 20_000  # the oldest are dropped; the sums keep them
COUNTED: Final = ("prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens", "cache_write_tokens")


@dataclass(slots=True)
class LedgerEntry:
    """One chat request."""

    number: int  # from 1
    trace: str  # the header x-trace-id of the response
    model: object
    status: int = 200
    id: str | None = None  # of the completion
    stream: bool = False
    usage: JsonObject | None = None  # None: an error, nothing is billed
    usage_sent: bool = False  # whether usage is in the response
    damage: str = ""  # what was made wrong, "" if nothing was
    session: str = ""  # the header x-session-id of the request
    delivered: bool = False  # whether every byte of a response that was not cut has been written to the client


@dataclass(slots=True)
class SimLedger:
    """All entries, the newest last."""

    entries: deque[LedgerEntry] = field(default_factory=lambda: deque(maxlen=MAX_ENTRIES))
    requests: int = 0
    sums: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))

    def open(self, model: object, session: str = "") -> LedgerEntry:
        self.requests += 1
        entry = LedgerEntry(self.requests, f"sim-{self.requests}", model, session=session)
        self.entries.append(entry)
        return entry

    def bill(self, entry: LedgerEntry, usage: JsonObject, *, usage_sent: bool) -> None:
        entry.usage, entry.usage_sent = usage, usage_sent
        for name, tokens in counts(usage).items():
            self.sums[name] += tokens

    def clear(self) -> None:
        self.entries.clear()
        self.requests = 0
        self.sums = dict.fromkeys(COUNTED, 0)

    def page(self, after: int = 0, limit: int = MAX_ENTRIES) -> JsonObject:
        """Entries with a higher number than `after`, at most `limit`."""
        found = [asdict(entry) for entry in self.entries if entry.number > after][:limit]
        return {"requests": self.requests, "sums": dict(self.sums), "entries": found}


def counts(usage: JsonObject) -> dict[str, int]:
    """The token counts of a `usage` object, whichever host's names it has."""
    details = usage.get("prompt_tokens_details") or {}
    names: dict[str, tuple[str, ...]] = {
        "cache_write_tokens": ("cache_write_tokens", "cache_creation_input_tokens"),
    }
    found = {}
    for name in COUNTED:
        spelled = names.get(name, (name,))
        values = [place.get(each) for place in (usage, details) for each in spelled]
        found[name] = next((value for value in values if isinstance(value, int)), 0)
    return found
