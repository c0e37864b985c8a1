"""The settings of routes: names that stand for several models of several providers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.shapes import Either, Flag, ListOf, Number, OneOf, TextSetting
from moongate.gateway.config.table import REQUIRED, ShortForm, Table, setting

# Strategy → the names that other gateways have for it.
STRATEGIES: Final[dict[str, tuple[str, ...]]] = {
    "ordered": (),
    "weighted": ("simple-shuffle", "loadbalance"),
    "least-busy": (),
    "latency": ("latency-based-routing",),
    "cost": ("cost-based-routing",),
    "quality": (),
}
STRATEGY_OF: Final = {word: name for name, aliases in STRATEGIES.items() for word in (name, *aliases)}
MAX_TARGETS: Final = 64  # of a route: each request may compare all of them


@dataclass(frozen=True, eq=False, repr=False)
class RouteTarget:
    """A target of a route: its name alone, or this object."""

    model: str = setting(TextSetting(), REQUIRED, "a model, as clients may ask for it: `provider,model`")
    weight: float = setting(Number(0.001, 1000), 1.0, "its share among targets that are equally good")
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class ConfiguredRoute:
    """A name for several models, one of which answers. [How one is chosen](routing.md)."""

    targets: tuple[RouteTarget, ...] = setting(
        ListOf(Either(ShortForm(RouteTarget, "model"), Table(RouteTarget)), min_items=1), REQUIRED, "who may answer"
    )
    strategy: str = setting(OneOf(tuple(STRATEGY_OF)), "ordered", "how a new session gets its target")
    sticky: bool = setting(Flag(), True, "the turns of a session stay at one target, whose prompt cache they fill")
    explore: float = setting(
        Number(0, 1), 0.02, "share of new sessions that go elsewhere, to learn (`quality` and `latency`)"
    )
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)
