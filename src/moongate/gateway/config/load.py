"""Reads the configuration file and checks it as far as possible without the network."""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from moongate.errors import ConfigError
from moongate.gateway.config.foreign import check_text, check_value
from moongate.gateway.config.jsonc import ConfigDocument, parse
from moongate.gateway.config.origins import proxy_secrets
from moongate.gateway.config.places import ConfigPlace, ErrorCollector, json_type, line_of
from moongate.gateway.config.secrets import named_secrets, resolve_secret
from moongate.gateway.config.settings import SCHEMA_KEY, ClientKey, Settings
from moongate.gateway.config.sources import ConfigLookup, Source, require_unique, source_of
from moongate.gateway.config.store_urls import with_state, with_store
from moongate.gateway.config.table import Table, settings_of
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.transformers import Transformers

MAX_FILE: Final = 4 << 20
MIN_KEY_CHARS: Final = 16  # of a client key, where other machines can try
MIN_ADMIN_KEY_CHARS: Final = 32  # of the admin key, where other machines can try
_PROVIDER_KEYS: Final = frozenset({"api_base_url", "api_key", "models"})
_TOP_LEVEL_KEYS: Final = frozenset(each.name for each in settings_of(Settings))
_LONG_FORM: Final = 'write {"providers": [{…}], …}, and put it beside "providers"'
# In the path of an error: a provider that could not be read at all, or one of its models, with their names.
_NAMES_MODELS: Final = re.compile(r"^(providers)?(\[\d+\])?(\.?(name|api_base_url|models)\b|$)")

FileStamp = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration, checked, with secrets resolved."""

    settings: Settings
    sources: tuple[Source, ...]
    client_keys: tuple[ClientKey, ...] | None  # None: clients need no key; (): a key is created at first start
    transformers: Transformers
    file: Path | None = None
    file_stamp: FileStamp | None = None  # of the file when it was read

    @property
    def secrets(self) -> frozenset[str]:
        """Every value that must never appear in a log or an answer."""
        # A key that is the provider's name (`ollama`) is none: that name stands in answers and logs.
        own = {key.key for source in self.sources for key in source.keys if key.key != source.name}
        own.update(value for source in self.sources for value in source.headers.values() if len(value) >= 16)
        own.update(secret for source in self.sources for each in source.origins for secret in proxy_secrets(each))
        if "://" in self.settings.store.place:
            own.add(self.settings.store.place)
        if "@" in self.settings.state.url:
            own.add(self.settings.state.url)
        if self.settings.admin is not None and self.settings.admin.key:
            own.add(self.settings.admin.key)
        return frozenset(own | {key.key for key in self.client_keys or ()})


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """`provider_keys`: read them, though not every command needs them. `validate` finds further errors."""

    provider_keys: bool = True
    validate: Callable[[Config], object] | None = None


READ_ALL: Final = ReadOptions()


def read_config(path: Path, environment: Mapping[str, str] = os.environ, options: ReadOptions = READ_ALL) -> Config:
    """The configuration in a file. Raises ConfigError, or ConfigErrors with all that is wrong."""
    stamp = file_stamp(path)  # before the file is read: a change during the reading is then seen as one
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
    config = parse_config(text, str(path), path.resolve().parent, environment, file=path, options=options)
    return replace(config, file_stamp=stamp)


def file_stamp(file: Path | None) -> FileStamp | None:
    """Changes whenever the file does. None: there is no file, or it cannot be looked at."""
    if file is None:
        return None
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def parse_config(
    text: str,
    name: str,
    folder: Path,
    environment: Mapping[str, str],
    *,
    file: Path | None = None,
    options: ReadOptions = READ_ALL,
) -> Config:
    """The same for a text. Relative paths in it are relative to `folder`."""
    check_text(text, name)
    document = parse(text, name)
    errors = ErrorCollector()
    with errors.collect():
        return _checked(document, ConfigLookup(folder, environment, options.provider_keys), file, options.validate)
    errors.errors.sort(key=lambda error: line_of(error, name))
    # Custom transformers may raise errors with any text.
    redact = Redactor(named_secrets(document.value, environment, folder)).redact
    errors.errors = [ConfigError(redact(each.message), path=redact(each.path)) for each in errors.errors]
    errors.raise_collected()
    raise AssertionError("unreachable")


def _checked(
    document: ConfigDocument, around: ConfigLookup, file: Path | None, validate: Callable[[Config], object] | None
) -> Config:
    """Each step that does not depend on a failed one is done, so that all errors are found."""
    errors = ErrorCollector()
    readable = errors.attempt(_settings, document)
    wrong = [each.path.removeprefix(f"{document.file}:").partition(": ")[2] for each in errors.errors]

    def is_whole(*names: str) -> bool:
        return not any(each.startswith(names) for each in wrong)

    if not readable or not is_whole("transformers"):
        errors.raise_collected()
    settings = readable[0]
    transformers = Transformers.load(settings.transformers, around.folder)
    with errors.collect():
        require_unique((provider.name, provider.at, "provider") for provider in settings.providers)
    sources = tuple(source_of(each, transformers, around, errors) for each in settings.providers)
    keys: tuple[ClientKey, ...] | None = ()
    with errors.collect():
        keys = _client_keys(settings, around)
    with errors.collect():
        settings = with_store(settings, around)
    with errors.collect():
        settings = with_state(settings, around)
    if is_whole("admin"):
        with errors.collect():
            settings = _with_admin(settings, around)
    config = Config(settings, sources, keys, transformers, file)
    if is_whole("host", "api_keys"):
        with errors.collect():
            check_exposure(config, settings.host)
    # A name that is not found may be that of something that could not be read.
    names_are_known = is_whole("routes", "aliases", "judge") and not any(map(_NAMES_MODELS.search, wrong))
    if validate is not None and names_are_known:
        with errors.collect():
            validate(config)
    errors.raise_collected()
    return config


def check_exposure(config: Config, host: str) -> None:
    """Refuse to serve other machines without client keys, or with keys that can be guessed."""
    if is_loopback(host):
        return
    assert config.settings.at is not None
    at = config.settings.at.child("api_keys")
    if config.client_keys is None:
        raise at.error(f'"none" is only allowed on a loopback address, not on {host}')
    if not config.client_keys:
        raise at.error(f"listening on {host} needs 'api_keys': every machine that reaches it could use your providers")
    for key in config.client_keys:
        if len(key.key) < MIN_KEY_CHARS:
            place = key.at or at
            raise place.error(f"a key of fewer than {MIN_KEY_CHARS} characters can be guessed: not allowed on {host}")


def is_loopback(host: str) -> bool:
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _settings(document: ConfigDocument) -> Settings:
    """The file may be one provider, a list of providers, or the whole object."""
    value, at = document.value, ConfigPlace(document)
    if isinstance(value, list):
        return _short_form(value, at)
    if not isinstance(value, dict):
        raise at.error(
            f"expected a provider, a list of providers or an object with 'providers', found {json_type(value)}"
        )
    check_value(value, at)
    value = {key: each for key, each in value.items() if key != SCHEMA_KEY}
    if "providers" not in value and not _PROVIDER_KEYS.isdisjoint(value):
        if misplaced := next((key for key in value if key in _TOP_LEVEL_KEYS), None):
            raise at.child(misplaced).error(f"{misplaced!r} is no setting of a provider: {_LONG_FORM}")
        return _short_form(value, at)
    return Table(Settings).read(value, at)


def _short_form(value: object, at: ConfigPlace) -> Settings:
    """The providers alone."""
    errors = ErrorCollector()
    shape = Settings.__dataclass_fields__["providers"].metadata["shape"]
    for providers in errors.attempt(shape.read, value, at):
        settings = Settings(providers=providers, at=at)
        errors.raise_collected(settings)
        return settings
    errors.raise_collected()
    raise AssertionError("unreachable")


def _with_admin(settings: Settings, around: ConfigLookup) -> Settings:
    """The key of operators, which must be long where other machines can try keys."""
    admin = settings.admin
    if admin is None or admin.at is None:
        return settings
    key = resolve_secret(admin.key, admin.at.child("key"), around.environment, around.folder) if admin.key else ""
    if not is_loopback(admin.host) and len(key) < MIN_ADMIN_KEY_CHARS:
        raise admin.at.child("key").error(
            f"listening on {admin.host} needs a key of at least {MIN_ADMIN_KEY_CHARS} characters: "
            "whoever has it can make client keys"
        )
    return replace(settings, admin=replace(admin, key=key))


def _client_keys(settings: Settings, around: ConfigLookup) -> tuple[ClientKey, ...] | None:
    if [each.key for each in settings.api_keys] == ["none"]:
        return None
    for each in settings.api_keys:
        if each.key == "none" and each.at is not None:
            raise each.at.error('"none" stands alone: "api_keys": "none"')
    keys = tuple(replace(each, key=around.secret(each)) for each in settings.api_keys)
    require_unique((key.key, key.at, "") for key in keys)
    return keys
