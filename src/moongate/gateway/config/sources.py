"""Providers with their secrets and URLs resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from moongate.gateway.config.endpoint import Endpoint
from moongate.gateway.config.origins import endpoints_of, origins_of
from moongate.gateway.config.passthrough_settings import PassThroughPath, check_paths
from moongate.gateway.config.places import ConfigPlace, ErrorCollector
from moongate.gateway.config.secrets import resolve_secret
from moongate.gateway.config.settings import ClientKey, Model, Provider, ProviderKey
from moongate.gateway.config.steps import Step, chains_of, require_native
from moongate.gateway.transformers import Transformers
from moongate.net.dial import Origin
from moongate.prices.price import token_prices

NOT_READ: Final = "(not read)"  # instead of a provider's key


@dataclass(frozen=True, slots=True)
class Source:
    """A provider, with its secrets and its URL resolved."""

    name: str
    endpoints: tuple[Endpoint, ...]
    origins: tuple[Origin, ...]  # one for each endpoint
    keys: tuple[ProviderKey, ...]
    models: tuple[Model, ...]
    chains: Mapping[str, tuple[Step, ...]]  # by the model's name
    headers: Mapping[str, str]
    settings: Provider

    @property
    def endpoint(self) -> Endpoint:
        return self.endpoints[0]


@dataclass(frozen=True, slots=True)
class ConfigLookup:
    """Where secrets and files of a configuration are looked up."""

    folder: Path
    environment: Mapping[str, str]
    provider_keys: bool

    def secret(self, entry: ClientKey | ProviderKey, *, provider: bool = False) -> str:
        assert entry.at is not None
        if provider and not self.provider_keys:
            return NOT_READ
        return resolve_secret(entry.key, entry.at, self.environment, self.folder)


def source_of(provider: Provider, transformers: Transformers, around: ConfigLookup, errors: ErrorCollector) -> Source:
    """What is wrong is added to `errors`; then the source is not complete, and only good for finding more."""
    at = provider.at
    assert at is not None
    endpoints: tuple[Endpoint, ...] = (Endpoint("http", "", 80, ""),)
    origins: tuple[Origin, ...] = ()
    keys: tuple[ProviderKey, ...] = ()
    chains: dict[str, tuple[Step, ...]] = {model.name: () for model in provider.models}
    headers: dict[str, str] = {}
    with errors.collect():
        require_unique((model.name, model.at, "model") for model in provider.models)
    with errors.collect():
        endpoints = endpoints_of(provider)
        origins = origins_of(provider, endpoints, around.folder, around.environment)
    with errors.collect():
        keys = tuple(replace(each, key=around.secret(each, provider=True)) for each in provider.api_key)
        if around.provider_keys:
            require_unique((key.key, key.at, "") for key in keys)
    for found in errors.attempt(chains_of, provider, transformers):
        chains = found
    for name, value in provider.headers.items():
        with errors.collect():
            headers[name.lower()] = _header(name, value, at.child("headers").child(name), around)
    with errors.collect():
        check_paths(provider.passthrough)
    everything: tuple[Model | PassThroughPath, ...] = (*provider.models, *provider.passthrough)
    for priced in everything:
        with errors.collect():
            _check_price(priced)
    for model in provider.models:
        with errors.collect():
            chain = transformers.chain(chains[model.name], model.name, provider.base_url)  # raises for bad options
            if provider.dialect != "chat":
                require_native(chains[model.name], chain.transformers, provider.dialect)
    return Source(provider.name, endpoints, origins, keys, provider.models, chains, headers, provider)


def _check_price(model: Model | PassThroughPath) -> None:
    try:
        token_prices(model.price)
    except ValueError as error:
        assert model.at is not None
        raise model.at.child("price").error(str(error)) from None


def _header(name: str, value: str, at: ConfigPlace, around: ConfigLookup) -> str:
    if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
        raise at.error(f"{name!r} is not the name of a header")
    if name.lower() in ("host", "content-length", "transfer-encoding", "connection", "content-type"):
        raise at.error(f"{name!r} is set by the gateway itself")
    if value.startswith("$"):
        return resolve_secret(value, at, around.environment, Path()) if around.provider_keys else NOT_READ
    if not value.isascii() or not value.isprintable():
        raise at.error("a header's value is made of printable ASCII characters")
    return value


def require_unique(names: Iterable[tuple[str, ConfigPlace | None, str]]) -> None:
    """Raise for a name that appears twice. The kind "" is for secrets, which are not shown."""
    seen: set[str] = set()
    for name, at, kind in names:
        if name in seen and at is not None:
            raise at.error(f"a second {kind} named {name!r}" if kind else "the same key twice")
        seen.add(name)
