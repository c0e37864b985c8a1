"""What a key or a team may do, and why a request was refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LimitName = Literal["rpm", "tpm", "concurrency", "budget", "token_budget", "price"]


@dataclass(frozen=True, slots=True)
class LimitSet:
    """The limits of one key or team; 0 is no limit. Money is in millionths of a dollar."""

    rpm: int = 0
    tpm: int = 0
    concurrency: int = 0
    budget: int | None = None
    token_budget: int | None = None
    reset: str = "never"

    @property
    def has_budget(self) -> bool:
        return self.budget is not None or self.token_budget is not None

    def __bool__(self) -> bool:
        return bool(self.rpm or self.tpm or self.concurrency) or self.has_budget


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that a limit does not allow.

    `retry_after` is in seconds: when it would be allowed if nobody else came. `resets_at` (seconds since 1970) is when
    a budget begins anew, None if it never does. `transient` says that waiting for that long is enough; a budget that is
    used up is not transient, one that is only reserved by requests in flight is.
    """

    limit: LimitName
    owner: str  # whose limit it is: "key", "team"
    allowed: int
    retry_after: float | None
    resets_at: int | None = None
    transient: bool = True
