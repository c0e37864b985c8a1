"""A file → the configuration of a running gateway, checked as far as it can be checked without the network."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from moongate.errors import ConfigError
from moongate.gateway.config.endpoint import Endpoint, resolve_endpoint
from moongate.gateway.config.jsonc import Document, parse
from moongate.gateway.config.secrets import named_secrets, resolve_secret
from moongate.gateway.config.settings import SCHEMA_KEY, ClientKey, Model, Provider, ProviderKey, Settings
from moongate.gateway.config.shapes import Place, Table, kind_of, settings_of
from moongate.gateway.config.steps import Step, chains_of
from moongate.gateway.redaction import Redactor
from moongate.gateway.transformers import Transformers

MAX_FILE: Final = 4 << 20
_OF_A_PROVIDER: Final = frozenset({"api_base_url", "api_key", "models"})
_BESIDE_PROVIDERS: Final = frozenset(each.name for each in settings_of(Settings))
_LONG_FORM: Final = 'write {"providers": [{…}], …}, and put it beside "providers"'


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
class Config:
    """Everything that the file says."""

    settings: Settings
    sources: tuple[Source, ...]
    client_keys: tuple[ClientKey, ...] | None  # None: clients need no key; (): one is made at first start
    transformers: Transformers
    file: Path | None = None

    @property
    def secrets(self) -> frozenset[str]:
        """Every value that must never be shown."""
        own = {key.key for source in self.sources for key in source.keys}
        own.update(value for source in self.sources for value in source.headers.values() if len(value) >= 16)
        return frozenset(own | {key.key for key in self.client_keys or ()})


def read_config(path: Path, environment: Mapping[str, str] = os.environ) -> Config:
    """The configuration in a file. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(path)) from None
    if len(data) > MAX_FILE:
        raise ConfigError(f"larger than {MAX_FILE >> 20} MiB", path=str(path))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError("not UTF-8", path=f"{path}:{line}") from None
    return parse_config(text, str(path), path.resolve().parent, environment, file=path)


def parse_config(
    text: str,
    name: str,
    folder: Path,
    environment: Mapping[str, str],
    *,
    file: Path | None = None,
) -> Config:
    """The same for a text; relative paths in it start at `folder`."""
    document = parse(text, name)
    try:
        return _checked(document, folder, environment, file)
    except ConfigError as error:
        # Code that the configuration names may raise with anything in its words.
        clean = Redactor(named_secrets(document.value, environment, folder)).clean
        raise ConfigError(clean(error.message), path=clean(error.path)) from None


def _checked(document: Document, folder: Path, environment: Mapping[str, str], file: Path | None) -> Config:
    settings = _settings(document)
    transformers = Transformers.load(settings.transformers, folder)
    _unique((provider.name, provider.at, "provider") for provider in settings.providers)
    sources = tuple(_source(each, transformers, environment, folder) for each in settings.providers)
    keys = _client_keys(settings, environment, folder)
    config = Config(settings, sources, keys, transformers, file)
    check_exposure(config, settings.host)
    return config


def check_exposure(config: Config, host: str) -> None:
    """Nobody but this machine may come in without a key."""
    if is_loopback(host):
        return
    assert config.settings.at is not None
    at = config.settings.at.child("api_keys")
    if config.client_keys is None:
        raise at.error(f'"none" is only allowed on a loopback address, not on {host}')
    if not config.client_keys:
        raise at.error(f"listening on {host} needs 'api_keys': every machine that reaches it could use your providers")


def is_loopback(host: str) -> bool:
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _settings(document: Document) -> Settings:
    """One provider, a list of them, or the whole object."""
    value, at = document.value, Place(document)
    if isinstance(value, list):
        providers = Settings.__dataclass_fields__["providers"].metadata["shape"].read(value, at)
        return Settings(providers=providers, at=at)
    if not isinstance(value, dict):
        raise at.error(
            f"expected a provider, a list of providers or an object with 'providers', found {kind_of(value)}"
        )
    value = {key: each for key, each in value.items() if key != SCHEMA_KEY}
    if "providers" not in value and not _OF_A_PROVIDER.isdisjoint(value):
        if misplaced := next((key for key in value if key in _BESIDE_PROVIDERS), None):
            raise at.child(misplaced).error(f"{misplaced!r} is no setting of a provider: {_LONG_FORM}")
        return Settings(providers=(Table(Provider).read(value, at),), at=at)
    settings: Settings = Table(Settings).read(value, at)
    return settings


def _source(provider: Provider, transformers: Transformers, environment: Mapping[str, str], folder: Path) -> Source:
    assert provider.at is not None
    _unique((model.name, model.at, "model") for model in provider.models)
    endpoint = resolve_endpoint(provider.api_base_url, provider.at.child("api_base_url"))
    keys = tuple(replace(each, key=_secret(each, environment, folder)) for each in provider.api_key)
    _unique((key.key, key.at, "") for key in keys)
    chains = chains_of(provider, transformers)
    headers_at = provider.at.child("headers")
    headers = {
        name.lower(): _header(name, value, headers_at.child(name), environment)
        for name, value in provider.headers.items()
    }
    for model in provider.models:
        transformers.chain(chains[model.name], model.name, provider.api_base_url)  # raises what the options say
    ca_file = provider.ca_file and str(folder / Path(provider.ca_file).expanduser())
    if ca_file and not os.access(ca_file, os.R_OK):
        raise provider.at.child("ca_file").error(f"cannot be read: {provider.ca_file}")
    settings = replace(provider, ca_file=ca_file)
    return Source(provider.name, endpoint, keys, provider.models, chains, headers, settings)


def _header(name: str, value: str, at: Place, environment: Mapping[str, str]) -> str:
    if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
        raise at.error(f"{name!r} is not the name of a header")
    if name.lower() in ("host", "content-length", "transfer-encoding", "connection", "content-type"):
        raise at.error(f"{name!r} is set by the gateway itself")
    if value.startswith("$"):
        return resolve_secret(value, at, environment, Path())
    if not value.isascii() or not value.isprintable():
        raise at.error("a header's value is made of printable ASCII characters")
    return value


def _client_keys(settings: Settings, environment: Mapping[str, str], folder: Path) -> tuple[ClientKey, ...] | None:
    if [each.key for each in settings.api_keys] == ["none"]:
        return None
    for each in settings.api_keys:
        if each.key == "none" and each.at is not None:
            raise each.at.error('"none" stands alone: "api_keys": "none"')
    keys = tuple(replace(each, key=_secret(each, environment, folder)) for each in settings.api_keys)
    _unique((key.key, key.at, "") for key in keys)
    return keys


def _secret(entry: ClientKey | ProviderKey, environment: Mapping[str, str], folder: Path) -> str:
    assert entry.at is not None
    return resolve_secret(entry.key, entry.at, environment, folder)


def _unique(names: Iterable[tuple[str, Place | None, Any]]) -> None:
    """`kind` "" stands for a secret, which is not shown."""
    seen: set[str] = set()
    for name, at, kind in names:
        if name in seen and at is not None:
            raise at.error(f"a second {kind} named {name!r}" if kind else "the same key twice")
        seen.add(name)
