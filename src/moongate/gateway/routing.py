"""Which target a model name means.

`provider,model`, `provider/model`, the bare name or alias if only one provider has it, the `aliases` of the
configuration (exact names, then patterns in their order), then `default`, unless a provider was named. Everything but a
pattern is one lookup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, Final

from moongate.errors import BadRequest, NotFound
from moongate.gateway.config.load import Config, Source
from moongate.gateway.config.settings import Model
from moongate.gateway.config.shapes import Place, nearest

MAX_REMEMBERED: Final = 1024  # names that patterns decided; clients choose them, so the memory has an end


@dataclass(frozen=True, slots=True)
class Route:
    """A model of a provider, and where to go when it fails."""

    index: int  # of the target: its place among all models of all providers
    provider: str
    model: str
    fallback: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.provider},{self.model}"


class Routes:
    """The routes of one configuration."""

    def __init__(self, config: Config) -> None:
        self.all: list[Route] = []
        self.shared: dict[str, list[str]] = {}  # bare names that several providers have → their full names
        self._by_name: dict[str, Route] = {}
        self._patterns: list[tuple[re.Pattern[str], Route]] = []
        self._remembered: dict[str, Route | None] = {}
        self._default: Route | None = None
        self._aliases: list[str] = []
        self._providers = tuple(source.name for source in config.sources)
        pairs = [(source, model) for source in config.sources for model in source.models]
        self._name_models(pairs)
        self._add_fallbacks(pairs)
        self._add_aliases(config.settings.aliases, config.settings.at)
        if config.settings.default:
            assert config.settings.at is not None
            self._default = self._known(config.settings.default, config.settings.at.child("default"))

    def find(self, model: Any) -> Route:
        """Raises NotFound with close names, BadRequest if no model is named at all."""
        if isinstance(model, str):
            route = self._by_name.get(model) or self._by_pattern(model)
            if route is not None:
                return route
        elif model is not None:
            raise BadRequest("must be a text", path="model")
        if self._default is not None and not self._names_a_provider(model):
            return self._default
        if not model:
            raise BadRequest("is missing", path="model")
        raise self._unknown(model)

    def is_name(self, model: str) -> bool:
        """Is it a name of the configuration's own?"""
        return model in self._by_name

    def _names_a_provider(self, model: str | None) -> bool:
        """Who says which provider means it: another model would be a surprise."""
        return model is not None and any(model.startswith((f"{each},", f"{each}/")) for each in self._providers)

    def listed(self) -> list[tuple[str, Route]]:
        """Names for `GET /v1/models`: one per model, the shortest that is its own, then the aliases."""
        names = [(route.model if route.model not in self.shared else route.name, route) for route in self.all]
        return names + [(alias, self._by_name[alias]) for alias in self._aliases]

    def _name_models(self, pairs: list[tuple[Source, Model]]) -> None:
        bare: dict[str, list[Route]] = {}
        for index, (source, model) in enumerate(pairs):
            route = Route(index, source.name, model.name)
            self.all.append(route)
            for name in (model.name, *model.alias):
                bare.setdefault(name, []).append(route)
                for full in (f"{source.name},{name}", f"{source.name}/{name}"):
                    if self._by_name.setdefault(full, route) is not route:
                        assert model.at is not None
                        raise model.at.error(f"{name!r} names two models of this provider")
        for name, routes in bare.items():
            if len({route.index for route in routes}) > 1:
                self.shared[name] = [f"{route.provider},{name}" for route in routes]
            else:
                self._by_name.setdefault(name, routes[0])
        self._aliases = [
            alias for _, model in pairs for alias in dict.fromkeys(model.alias) if alias not in self.shared
        ]

    def _add_fallbacks(self, pairs: list[tuple[Source, Model]]) -> None:
        complete = dict(enumerate(self.all))
        for index, (_, model) in enumerate(pairs):
            if model.fallback:
                assert model.at is not None
                at = model.at.child("fallback")
                others = [self._known(name, at).index for name in model.fallback]
                if index in others:
                    raise at.error(f"{model.name!r} falls back to itself")
                old = self.all[index]
                complete[index] = Route(index, old.provider, old.model, tuple(dict.fromkeys(others)))
        self.all = list(complete.values())
        self._by_name = {name: self.all[route.index] for name, route in self._by_name.items()}

    def _add_aliases(self, aliases: Mapping[str, str], at: Place | None) -> None:
        for name, meaning in aliases.items():
            assert at is not None
            here = at.child("aliases").child(name)
            route = self._known(meaning, here)
            if "*" in name or "?" in name:
                self._patterns.append((re.compile(translate(name)), route))
            elif name in self._by_name:
                raise here.error(f"{name!r} is already the name of {self._by_name[name].name}")
            else:
                self._by_name[name] = route
                self._aliases.append(name)

    def _known(self, name: str, at: Place) -> Route:
        route = self._by_name.get(name)
        if route is not None:
            return route
        if name in self.shared:
            raise at.error(f"{name!r} is served by several providers: say which, {' or '.join(self.shared[name])}")
        raise at.error(f"no model {name!r}{nearest(name, [each for each, _ in self.listed()])}")

    def _by_pattern(self, name: str) -> Route | None:
        if not self._patterns:
            return None
        if name not in self._remembered:
            if len(self._remembered) >= MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[name] = next((route for each, route in self._patterns if each.match(name)), None)
        return self._remembered[name]

    def _unknown(self, model: str) -> NotFound:
        shown = model if len(model) <= 200 else model[:200] + "…"
        if model in self.shared:
            choices = ", ".join(self.shared[model])
            return NotFound(
                f"The model {shown!r} is served by several providers: ask for one of {choices}",
                code="model_not_found",
            )
        import difflib  # only mistakes need it

        names = [name for name, _ in self.listed()]
        by_lower = {each.lower(): each for each in [*names, *(route.name for route in self.all)]}
        close = difflib.get_close_matches(model[:200].lower(), by_lower, n=5, cutoff=0.4)
        shown_names = [by_lower[each] for each in close] or names[:5]
        hint = f" Did you mean {', '.join(map(repr, shown_names))}?" if close else f" Known: {', '.join(shown_names)}"
        return NotFound(f"The model {shown!r} does not exist.{hint}", code="model_not_found")
