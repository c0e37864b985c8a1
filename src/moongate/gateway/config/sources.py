"""Providers with their secrets and URLs resolved."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from moongate.gateway.config.endpoint import Endpoint, resolve_endpoint
from moongate.gateway.config.places import ConfigPlace, ErrorCollector
from moongate.gateway.config.secrets import resolve_secret
from moongate.gateway.config.settings import ClientKey, Model, Provider, ProviderKey
from moongate.gateway.config.steps import Step, chains_of
from moongate.gateway.transformers import Transformers
from moongate.prices.price import token_prices

NOT_READ: Final = "(not read)"  # instead of a provider's key


@dataclass(frozen=True, slots=True)
class Source:
    """A provider, with its secrets and its URL resolved."""

    name: str
    endpoint: Endpoint
    keys: tuple[ProviderKey, ...]
    models: tuple[Model, ...]
    chains: Mapping[str, tuple[Step, ...]]  # by the model's name
    headers: Mapping[str, str]
    settings: Provider


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where secrets and files of a configuration are looked up."""

    folder: Path
    environment: Mapping[str, str]
    provider_keys: bool

    def secret(self, entry: ClientKey | ProviderKey, *, provider: bool = False) -> str:
        assert entry.at is not None
        if provider and not self.provider_keys:
            return NOT_READ
        return resolve_secret(entry.key, entry.at, self.environment, self.folder)


def source_of(provider: Provider, transformers: Transformers, around: Surroundings, errors: ErrorCollector) -> Source:
    """What is wrong is added to `errors`; then the source is not complete, and only good for finding more."""
    at = provider.at
    assert at is not None
    endpoint = Endpoint("http", "", 80, "")
    keys: tuple[ProviderKey, ...] = ()
    chains: dict[str, tuple[Step, ...]] = {model.name: () for model in provider.models}
    headers: dict[str, str] = {}
    with errors.collect():
        require_unique((model.name, model.at, "model") for model in provider.models)
    with errors.collect():
        endpoint = resolve_endpoint(provider.api_base_url, at.child("api_base_url"))
    with errors.collect():
        keys = tuple(replace(each, key=around.secret(each, provider=True)) for each in provider.api_key)
        if around.provider_keys:
            require_unique((key.key, key.at, "") for key in keys)
    with errors.collect():
        chains = chains_of(provider, transformers)
    for name, value in provider.headers.items():
        with errors.collect():
            headers[name.lower()] = _header(name, value, at.child("headers").child(name), around)
    for model in provider.models:
        with errors.collect():
            _check_price(model)
        with errors.collect():
            transformers.chain(chains[model.name], model.name, provider.api_base_url)  # raises for bad options
    ca_file = provider.ca_file and str(around.folder / Path(provider.ca_file).expanduser())
    if ca_file and not os.access(ca_file, os.R_OK):
        errors.errors.append(at.child("ca_file").error(f"cannot be read: {provider.ca_file}"))
    settings = replace(provider, ca_file=ca_file)
    return Source(provider.name, endpoint, keys, provider.models, chains, headers, settings)


def _check_price(model: Model) -> None:
    try:
        token_prices(model.price)
    except ValueError as error:
        assert model.at is not None
        raise model.at.child("price").error(str(error)) from None


def _header(name: str, value: str, at: ConfigPlace, around: Surroundings) -> str:
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
