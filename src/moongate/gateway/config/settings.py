# ruff: noqa: RUF009 (`setting` makes a dataclass field, nothing else)
"""Every setting of the configuration file: its name, what it may be, its default and what it is for.

Timeouts, limits, retries and the log are in `limit_settings`, the store is in `store_settings`. The reader, the JSON
Schema and docs/configuration.md are made from these classes. They have no `repr`, because some hold keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from moongate.gateway.config.address_range import AddressRange, Network
from moongate.gateway.config.admin_settings import Admin, AdminOff
from moongate.gateway.config.inspect_settings import Inspect
from moongate.gateway.config.limit_settings import Limits, Log, Retries, Timeouts
from moongate.gateway.config.passthrough_settings import PASS_THROUGH_PATH, PassThroughPath
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.route_settings import ConfiguredRoute, RouteTarget
from moongate.gateway.config.shapes import Anything, Either, Flag, ListOf, MapOf, Number, OneOf, TextSetting
from moongate.gateway.config.state_settings import State
from moongate.gateway.config.store_settings import Store
from moongate.gateway.config.table import REQUIRED, ShortForm, Table, setting
from moongate.payload import JsonObject

SCHEMA_KEY: Final = "$schema"  # may stand at the top of the file, for editors

NAME: Final = TextSetting()
SECRET: Final = TextSetting(description="a key: the text itself, $VAR, ${VAR} or file:PATH")
_NAMES: Final = ListOf(NAME, or_single=True)
PROVIDER_NAME: Final = TextSetting(r"[^\s,/]+", description="a name without blanks, commas and slashes")
USE: Final = Anything(
    'a transformer: "Name", ["Name", {options}] or {"Name": {options}}; or a list of them',
    {"type": ["string", "array", "object"]},
)


@dataclass(frozen=True, eq=False, repr=False)
class ClientKey:
    """One key that clients may use."""

    key: str = setting(SECRET, REQUIRED, "the key")
    name: str = setting(NAME, "", "how the log calls it")
    rate: int = setting(Number(0, 1_000_000, integer=True), 0, "requests per minute; 0: no limit")
    concurrency: int = setting(Number(0, 1_000_000, integer=True), 0, "requests at the same time; 0: no limit")
    inspect: bool = setting(Flag(), False, "capture its requests and answers, for the pages at `/ui`")
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class ProviderKey:
    """One of a provider's keys."""

    key: str = setting(SECRET, REQUIRED, "the key")
    concurrency: int = setting(
        Number(0, 1_000_000, integer=True), 0, "requests at the same time, per worker; 0: no limit"
    )
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A model of a provider: its name alone, or this object."""

    name: str = setting(NAME, REQUIRED, "as the provider calls it")
    alias: tuple[str, ...] = setting(_NAMES, (), "other names that clients may ask for")
    options: JsonObject = setting(Anything("options of the chain's first transformer"), {}, "laid over the provider's")
    price: dict[str, float] = setting(
        MapOf(Number(0, 100_000), "kind of token"),
        {},
        "dollars per million tokens: `input`, `output`, `cache_read`, `cache_write`; what is absent is unknown",
    )
    fallback: tuple[str, ...] = setting(_NAMES, (), "models to try, in order, when this one fails")
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class CustomTransformer:
    """A transformer of your own."""

    path: str = setting(NAME, REQUIRED, "`module:Class`, `file.py` or `file.py:Class` (relative to this file)")
    name: str = setting(NAME, "", "its name in `use`; if absent, the name of the class")
    options: JsonObject = setting(Anything("options"), {}, "its default options")
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Provider:
    """A place that serves models through `/chat/completions`."""

    name: str = setting(PROVIDER_NAME, REQUIRED, "your name for it")
    api_base_url: tuple[str, ...] = setting(
        ListOf(TextSetting(), or_single=True, min_items=1),
        REQUIRED,
        "its base (with or without `/v1`), or the whole `…/chat/completions`; several are asked in turn",
    )
    models: tuple[Model, ...] = setting(
        ListOf(Either(ShortForm(Model, "name"), Table(Model)), min_items=1), REQUIRED, "the models to offer"
    )
    api_key: tuple[ProviderKey, ...] = setting(
        ListOf(Either(ShortForm(ProviderKey, "key", SECRET), Table(ProviderKey)), or_single=True),
        (),
        "its key or keys",
    )
    dialect: str = setting(
        OneOf(("chat", "anthropic", "responses")),
        "chat",
        "its API: `/chat/completions`, `/messages` or `/responses`; the others for clients of that front alone",
    )
    transformer: JsonObject = setting(
        Anything("`use`, and per model a key with its own `use`"), {}, "the chain that requests and answers run through"
    )
    headers: dict[str, str] = setting(MapOf(TextSetting(), "header"), {}, "headers to send with every request")
    forward_headers: tuple[str, ...] = setting(ListOf(NAME), (), "client headers to pass on, besides the usual few")
    proxy: str = setting(
        TextSetting(r"http://[^/\s]+/?|none", description='http://host:port, or "none"'),
        "",
        "HTTP proxy (CONNECT); if absent, `HTTPS_PROXY` and `NO_PROXY` of the environment hold for https addresses",
    )
    ca_file: str = setting(NAME, "", "certificates to trust instead of the system's")
    cert_file: str = setting(NAME, "", "our own certificate, for providers that ask for one (PEM)")
    key_file: str = setting(NAME, "", "its key, without a password; if absent, it is in `cert_file`")
    passthrough: tuple[PassThroughPath, ...] = setting(
        ListOf(Either(ShortForm(PassThroughPath, "path", PASS_THROUGH_PATH), Table(PassThroughPath))),
        (),
        "its other paths that clients may ask as they are, such as `/v1/embeddings`",
    )
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)

    @property
    def base_url(self) -> str:
        """The first address: it says which host it is."""
        return self.api_base_url[0]


_CLIENT_KEYS: Final = ListOf(Either(ShortForm(ClientKey, "key", SECRET), Table(ClientKey)), or_single=True)
_CUSTOM: Final = Either(ShortForm(CustomTransformer, "path"), Table(CustomTransformer))


class _CustomTransformers:
    """`{"Name": "path"}` or `[{"name": …, "path": …}]`."""

    __slots__ = ()

    def read(self, value: object, at: ConfigPlace) -> tuple[object, ...]:
        if isinstance(value, list):
            return ListOf(_CUSTOM).read(value, at)
        found = MapOf(_CUSTOM).read(value, at)
        return tuple(
            replace(each, name=each.name or name) for name, each in found.items() if isinstance(each, CustomTransformer)
        )

    def schema(self) -> JsonObject:
        return {"anyOf": [MapOf(_CUSTOM).schema(), ListOf(_CUSTOM).schema()]}

    def describe(self) -> str:
        return "object: name → path (or an object, see CustomTransformer)"


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """The whole file."""

    providers: tuple[Provider, ...] = setting(
        ListOf(Table(Provider), or_single=True, min_items=1), REQUIRED, "who answers"
    )
    host: str = setting(NAME, "127.0.0.1", "the address to listen on")
    port: int = setting(Number(0, 65_535, integer=True), 3000, "the port to listen on; 0: any free one")
    workers: int = setting(Number(1, 64, integer=True), 1, "worker processes")
    api_keys: tuple[ClientKey, ...] = setting(
        _CLIENT_KEYS, (), '"none" (only on loopback), or the keys of clients; if absent, one is made at first start'
    )
    allowed_hosts: tuple[str, ...] = setting(ListOf(NAME), (), "names in `Host` that are answered, besides our own")
    trusted_proxies: tuple[Network, ...] = setting(
        ListOf(AddressRange()), (), "proxies in front of the gateway, which name the addresses of their clients"
    )
    forwarded_header: str = setting(
        OneOf(("x-forwarded-for", "forwarded")), "x-forwarded-for", "the header in which they do"
    )
    default: str = setting(NAME, "", "the model for requests that name none, or an unknown one")
    aliases: dict[str, str] = setting(
        MapOf(NAME, "name or pattern"), {}, "names that clients ask for (`*` and `?` allowed) → models"
    )
    routes: dict[str, ConfiguredRoute] = setting(
        MapOf(Table(ConfiguredRoute)), {}, "names that clients ask for → targets, and how one of them is chosen"
    )
    judge: float = setting(
        Number(0, 1),
        0.05,
        "share of answers whose calls are checked against their tools' schemas; 1 on routes that choose by quality",
    )
    transformers: tuple[CustomTransformer, ...] = setting(_CustomTransformers(), (), "transformers of your own")
    timeouts: Timeouts = setting(Table(Timeouts), Timeouts(), "how long each wait may last")
    limits: Limits = setting(Table(Limits), Limits(), "how much of everything is taken")
    retries: Retries = setting(Table(Retries), Retries(), "what happens when a provider fails")
    log: Log = setting(Table(Log), Log(), "the access log")
    store: Store = setting(
        Either(ShortForm(Store, "place"), Table(Store)), Store(), "where keys, teams and usage are kept"
    )
    state: State = setting(
        Either(ShortForm(State, "url"), Table(State)),
        State(),
        "Redis or Valkey, in which several gateways share limits",
    )
    admin: Admin | None = setting(
        Either(AdminOff(), Table(Admin)), Admin(), "the listener for operators: keys, teams, usage, metrics"
    )
    inspect: Inspect = setting(
        Either(ShortForm(Inspect, "all", Flag()), Table(Inspect)),
        Inspect(),
        "which requests and answers are captured, bodies included, for the pages at `/ui`",
    )
    metrics: str = setting(
        OneOf(("admin", "clients")), "admin", "who reads `/metrics`: `clients` have it on their own listener as well"
    )
    client_metrics: int = setting(
        Number(0, 1000, integer=True),
        0,
        "how many clients have metrics of their own, each worker's first; the others are `other`",
    )
    watch: bool = setting(Flag(), False, "reload when this file changes (SIGHUP always does)")
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)


TABLES: Final = (
    Settings, Provider, Model, ProviderKey, ClientKey, CustomTransformer, Timeouts, Limits, Retries, Log,
    Store, State, Admin, Inspect, ConfiguredRoute, RouteTarget, PassThroughPath,
)  # fmt: skip
