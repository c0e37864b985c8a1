# ruff: noqa: RUF009 (`setting` makes a dataclass field, nothing else)
"""The settings of paths that are passed through to a provider."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from moongate.dialects.fronts import FRONTS
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.shapes import MapOf, Number, TextSetting
from moongate.gateway.config.table import REQUIRED, setting

# Nothing that two readers of a path could read differently: no escapes, no empty or dotted segments.
SEGMENTS: Final = r"(?:/(?!\.{1,2}(?:/|$))[A-Za-z0-9._~:@+,=-]+)+"
PASS_THROUGH_PATH: Final = TextSetting(SEGMENTS, description="a path such as /v1/embeddings")
# What the gateway answers itself. Pages that are added later win over a path of the configuration.
OWN_PATHS: Final = frozenset(
    {
        *(front.path for front in FRONTS),
        *(front.path.removeprefix("/v1") for front in FRONTS),
        *(path for front in FRONTS for path in front.pages),
        *("/health", "/metrics", "/models", "/ready", "/v1/key", "/v1/models", "/version"),
    }
)


@dataclass(frozen=True, eq=False, repr=False)
class PassThroughPath:
    """A path of a provider that clients may ask as it is: its text alone, or this object."""

    path: str = setting(PASS_THROUGH_PATH, REQUIRED, "with everything below it")
    price: dict[str, float] = setting(
        MapOf(Number(0, 100_000), "kind of token"), {}, "dollars per million tokens, as for a model"
    )
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)


def check_paths(paths: Iterable[PassThroughPath]) -> None:
    """Raises ConfigError for a path that the gateway serves itself, or that holds one of those."""
    seen: set[str] = set()
    for each in paths:
        assert each.at is not None
        own = next((own for own in sorted(OWN_PATHS) if (own + "/").startswith(each.path + "/")), None)
        if own is not None:
            raise each.at.error(f"the gateway itself serves {own}")
        if each.path in seen:
            raise each.at.error("the same path twice")
        seen.add(each.path)


def is_plain(path: str) -> bool:
    """May a client's path be passed on?"""
    return re.fullmatch(SEGMENTS, path) is not None
