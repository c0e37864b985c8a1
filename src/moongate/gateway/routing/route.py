"""What a name that clients ask for stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

EXPLORE: Final = 0.02  # share of new sessions that explore, where the configuration does not say
# What may stand behind a name, after a colon → the strategy for this request.
SUFFIXES: Final[Mapping[str, str]] = {"quality": "quality", "cheap": "cost", "fast": "latency"}


@dataclass(frozen=True, slots=True, eq=False)
class RoutePolicy:
    """How one of several targets is chosen."""

    targets: tuple[int, ...]  # indexes among all models of all providers
    weights: tuple[float, ...]  # of each target
    strategy: str
    sticky: bool = True
    explore: float = EXPLORE


@dataclass(frozen=True, slots=True, eq=False)
class Route:
    """A model of a provider with its fallbacks; or, with a policy, several models one of which is chosen."""

    index: int  # of the first target, among all models of all providers
    provider: str  # "": it is not one provider's
    model: str
    fallback: tuple[int, ...] = ()
    policy: RoutePolicy | None = None

    @property
    def name(self) -> str:
        return f"{self.provider},{self.model}" if self.provider else self.model

    def by(self, strategy: str) -> Route:
        """The same targets, chosen by another strategy. A lone target stays what it is."""
        policy = self.policy
        if policy is None:
            targets = (self.index, *self.fallback)
            policy = RoutePolicy(targets, (1.0,) * len(targets), strategy)
        if len(policy.targets) == 1:
            return self
        return replace(self, policy=replace(policy, strategy=strategy))

    def among(self, is_wanted: Callable[[int], bool]) -> Route:
        """Only those of its targets that are wanted; the route itself if all of them are, or none."""
        policy = self.policy
        indexes = (self.index, *self.fallback) if policy is None else policy.targets
        kept = [at for at, index in enumerate(indexes) if is_wanted(index)]
        if len(kept) in (0, len(indexes)):
            return self
        targets = tuple([indexes[at] for at in kept])
        if policy is None:
            return replace(self, index=targets[0], fallback=targets[1:])
        return replace(
            self, policy=replace(policy, targets=targets, weights=tuple([policy.weights[at] for at in kept]))
        )
