"""Resolves the model name of a request to a target, or to the targets of a route.

`provider,model`, `provider/model`, the bare name or alias if only one provider has it, the `routes` and `aliases` of
the configuration (exact names, then one of these with `:quality`, `:cheap` or `:fast` behind it, then patterns in their
order), then `default`, unless a provider was named. Everything but a pattern is one look-up, or two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import translate
from typing import Final

from moongate.errors import BadRequest, NotFound
from moongate.gateway.config.load import Config
from moongate.gateway.config.places import ConfigPlace, ErrorCollector, suggest
from moongate.gateway.config.route_settings import MAX_TARGETS, STRATEGY_OF, ConfiguredRoute
from moongate.gateway.config.settings import Model
from moongate.gateway.config.sources import Source
from moongate.gateway.routing.route import SUFFIXES, Route, RoutePolicy

MAX_CACHED: Final = 1024  # names that were matched against patterns; clients choose them, so they are limited
MAX_NAME_CHARS: Final = 512  # of such a name; a longer one matches no pattern


class Routes:
    """The routes of one configuration."""

    def __init__(self, config: Config) -> None:
        self.all: list[Route] = []
        self.configured: list[Route] = []  # those with a name of their own, in `routes`
        self.shared: dict[str, list[Route]] = {}  # ambiguous bare names → what they may mean
        self._by_name: dict[str, Route] = {}
        self._patterns: list[tuple[re.Pattern[str], Route]] = []
        self._pattern_cache: dict[str, Route | None] = {}
        self._default: Route | None = None
        self._aliases: list[str] = []
        self._ambiguous: dict[str, Route] = {}  # ambiguous bare names → all that have them, for `name:quality`
        self._variants: dict[tuple[Route, str], Route] = {}  # with another strategy
        self._providers = tuple(source.name for source in config.sources)
        pairs = [(source, model) for source in config.sources for model in source.models]
        self._name_models(pairs)
        errors = ErrorCollector()
        self._add_fallbacks(pairs, errors)
        self._add_routes(config.settings.routes, errors)
        self._add_aliases(config.settings.aliases, config.settings.at, errors)
        if config.settings.default:
            assert config.settings.at is not None
            with errors.collect():
                name, at = config.settings.default, config.settings.at.child("default")
                self._default = self._by_name.get(name) or self._variant(name) or self._resolve(name, at)
        errors.raise_collected()

    def find(self, model: object) -> Route:
        """Raises NotFound with similar names, BadRequest if no model is named at all."""
        if isinstance(model, str):
            route = self._by_name.get(model) or self.named(model)
            if route is not None:
                return route
        elif model is not None:
            raise BadRequest("must be a text", path="model")
        if self._default is not None and not self._names_a_provider(model):
            return self._default
        if not model:
            raise BadRequest("is missing", path="model")
        raise self.not_found(model)

    def named(self, model: str) -> Route | None:
        """What has this name, or an alias that fits it; None if only `default` would answer."""
        return self._by_name.get(model) or self._by_suffix(model) or self._by_pattern(model)

    def is_name(self, model: str) -> bool:
        """Is it a name from the configuration?"""
        return model in self._by_name

    def _names_a_provider(self, model: str | None) -> bool:
        """A client that names a provider must not get another provider's model."""
        return model is not None and any(model.startswith((f"{each},", f"{each}/")) for each in self._providers)

    def listed(self) -> list[tuple[str, Route]]:
        """Names for `GET /v1/models`: the shortest unambiguous one of each model, then the aliases, then the routes."""
        names = [(route.model if self._by_name.get(route.model) is route else route.name, route) for route in self.all]
        names += [(alias, self._by_name[alias]) for alias in self._aliases]
        return names + [(route.name, route) for route in self.configured]

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
                self.shared[name] = routes
            else:
                self._by_name.setdefault(name, routes[0])
        self._aliases = [
            alias for _, model in pairs for alias in dict.fromkeys(model.alias) if alias not in self.shared
        ]

    def _add_fallbacks(self, pairs: list[tuple[Source, Model]], errors: ErrorCollector) -> None:
        complete = dict(enumerate(self.all))
        for index, (_, model) in enumerate(pairs):
            if not model.fallback:
                continue
            assert model.at is not None
            at = model.at.child("fallback")
            with errors.collect():
                others = [self._resolve(name, at).index for name in model.fallback]
                if index in others:
                    raise at.error(f"{model.name!r} falls back to itself")
                old = self.all[index]
                complete[index] = Route(index, old.provider, old.model, tuple(dict.fromkeys(others)))
        self.all = list(complete.values())
        self._by_name = {name: self.all[route.index] for name, route in self._by_name.items()}
        self.shared = {name: [self.all[route.index] for route in routes] for name, routes in self.shared.items()}
        for name, routes in self.shared.items():
            targets = tuple(dict.fromkeys(route.index for route in routes))
            policy = RoutePolicy(targets, (1.0,) * len(targets), "ordered")
            self._ambiguous[name] = Route(targets[0], "", name, policy=policy)

    def _add_routes(self, routes: Mapping[str, ConfiguredRoute], errors: ErrorCollector) -> None:
        for name, settings in routes.items():
            assert settings.at is not None
            with errors.collect():
                if not name:
                    raise settings.at.error("a route needs a name")
                policy = self._policy(settings, settings.at.child("targets"))
                named = self._by_name.get(name)
                if named is not None and not (named.model == name and named.index in policy.targets):
                    raise settings.at.error(f"{name!r} is already the name of {named.name}")
                self.configured.append(Route(policy.targets[0], "", name, policy=policy))
        # Last: a target is a model, not a route. A route may have the name of one of its targets.
        self._by_name |= {route.name: route for route in self.configured}

    def _policy(self, settings: ConfiguredRoute, at: ConfigPlace) -> RoutePolicy:
        errors = ErrorCollector()
        targets: list[int] = []
        for number, each in enumerate(settings.targets):
            with errors.collect():
                found = self._resolve(each.model, at.child(number)).index
                if found in targets:
                    raise at.child(number).error(f"{self.all[found].name!r} is a target already")
                targets.append(found)
        if len(settings.targets) > MAX_TARGETS:
            errors.errors.append(at.error(f"more than {MAX_TARGETS} targets"))
        errors.raise_collected()
        weights = tuple(each.weight for each in settings.targets)
        return RoutePolicy(tuple(targets), weights, STRATEGY_OF[settings.strategy], settings.sticky, settings.explore)

    def _add_aliases(self, aliases: Mapping[str, str], at: ConfigPlace | None, errors: ErrorCollector) -> None:
        for name in _meanings_first(aliases):
            assert at is not None
            with errors.collect():
                self._add_alias(name, aliases[name], at.child("aliases").child(name))

    def _add_alias(self, name: str, meaning: str, at: ConfigPlace) -> None:
        route = self._by_name.get(meaning) or self._variant(meaning) or self._resolve(meaning, at)
        if "*" in name or "?" in name:
            self._patterns.append((re.compile(translate(name.replace("[", "[[]"))), route))
        elif name in self._by_name:
            raise at.error(f"{name!r} is already the name of {self._by_name[name].name}")
        else:
            self._by_name[name] = route
            self._aliases.append(name)

    def _resolve(self, name: str, at: ConfigPlace) -> Route:
        route = self._by_name.get(name)
        if route is not None:
            return route
        if name in self.shared:
            choices = " or ".join(self._full_names(name))
            raise at.error(f"{name!r} is served by several providers: say which, {choices}")
        if any(route.name == name for route in self.configured):
            raise at.error(f"no model {name!r}: it is a route, and a target is a model")
        raise at.error(f"no model {name!r}{suggest(name, [each for each, _ in self.listed()])}")

    def _full_names(self, name: str) -> list[str]:
        """The names of what an ambiguous name may mean."""
        return [f"{route.provider},{name}" for route in self.shared[name]]

    def _by_suffix(self, name: str) -> Route | None:
        """`name:quality`, where nothing has exactly this name. An ambiguous name means all providers that have it."""
        base, _, suffix = name.rpartition(":")
        if suffix not in SUFFIXES:
            return None
        pattern = self._by_pattern(base)
        # A pattern that is about the suffix itself has been in configurations before suffixes meant anything.
        if self._by_pattern(name) not in (None, pattern):
            return None
        return self._variant(name, pattern)

    def _variant(self, name: str, otherwise: Route | None = None) -> Route | None:
        """What stands before the suffix of this name, chosen by the strategy that the suffix means. `otherwise`: what
        it is if the configuration has no such name."""
        base, _, suffix = name.rpartition(":")
        strategy, route = SUFFIXES.get(suffix), self._by_name.get(base) or self._ambiguous.get(base) or otherwise
        if strategy is None or route is None:
            return None
        known = self._variants.get((route, strategy))
        if known is None:
            known = self._variants[route, strategy] = route.by(strategy)
        return known

    def _by_pattern(self, name: str) -> Route | None:
        if not self._patterns or len(name) > MAX_NAME_CHARS:
            return None
        if name not in self._pattern_cache:
            if len(self._pattern_cache) >= MAX_CACHED:
                self._pattern_cache.clear()
            self._pattern_cache[name] = next((route for each, route in self._patterns if each.match(name)), None)
        return self._pattern_cache[name]

    def not_found(self, model: str) -> NotFound:
        """The error for a name that nothing has, with similar names."""
        shown = model if len(model) <= 200 else f"({len(model)} characters)"  # not cut: it may hold a secret
        if model in self.shared:
            choices = ", ".join(self._full_names(model))
            return NotFound(
                f"The model {shown!r} is served by several providers: ask for one of {choices}",
                code="model_not_found",
            )
        import difflib  # needed for errors only

        names = [name for name, _ in self.listed()]
        by_lower = {each.lower(): each for each in [*names, *(route.name for route in self.all)]}
        close = difflib.get_close_matches(model[:200].lower(), by_lower, n=5, cutoff=0.4)
        shown_names = [by_lower[each] for each in close] or names[:5]
        more = ", …" if len(names) > len(shown_names) else ""
        known = f" Known: {', '.join(shown_names)}{more}"
        hint = f" Did you mean {', '.join(map(repr, shown_names))}?" if close else known
        return NotFound(f"The model {shown!r} does not exist.{hint}", code="model_not_found")


def _meanings_first(aliases: Mapping[str, str]) -> list[str]:
    """The names in their order, but behind the alias that each one means, if it means one."""
    ordered: dict[str, None] = {}
    for name in aliases:
        pending: dict[str, None] = {}
        while name in aliases and name not in ordered and name not in pending:
            pending[name] = None
            name = aliases[name]
        ordered |= dict.fromkeys(reversed(pending))
    return list(ordered)
