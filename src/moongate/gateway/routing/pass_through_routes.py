"""Which provider a path is passed through to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from moongate.errors import NotFound
from moongate.gateway.target import Target

PROVIDER_HEADER: Final = b"x-moongate-provider"  # chooses among several providers with the same path


@dataclass(frozen=True, slots=True)
class PassThroughRoute:
    """A path of the configuration. The model of its target is the path."""

    target: Target
    query: str  # of the provider's base URL

    @property
    def path(self) -> str:
        return self.target.model

    def upstream_path(self, path: str, query: str) -> str:
        """Where a client's path is at the provider."""
        below = self.target.path + path.removeprefix(self.path)
        return "?".join(filter(None, (below, "&".join(filter(None, (self.query, query))))))


class PassThroughRoutes:
    """Of one configuration."""

    def __init__(self, routes: Iterable[PassThroughRoute]) -> None:
        self._by_path: dict[str, dict[str, PassThroughRoute]] = {}
        for route in routes:
            self._by_path.setdefault(route.path, {})[route.target.provider] = route

    def find(self, path: str, headers: Mapping[bytes, bytes]) -> PassThroughRoute | None:
        """The route of a path, or of one above it; the first provider's, unless a header names another.

        None: the path is not open. Raises NotFound if the provider named does not have it.
        """
        above = path
        while above and self._by_path:
            found = self._by_path.get(above)
            if found is not None:
                return _chosen(found, headers.get(PROVIDER_HEADER), above)
            above = above.rpartition("/")[0]
        return None


def _chosen(found: Mapping[str, PassThroughRoute], given: bytes | None, path: str) -> PassThroughRoute:
    if given is None:
        return next(iter(found.values()))
    route = found.get(given.decode("latin-1").strip())
    if route is None:
        names = ", ".join(found)
        raise NotFound(f"{PROVIDER_HEADER.decode()}: the providers with {path} are {names}", code="no_such_provider")
    return route
