# ruff: noqa: RUF009 (`setting` makes a dataclass field, nothing else)
"""Every setting of the file: the one place that knows its name, what it may be, its default and what it is for.

The reader, the JSON Schema and docs/configuration.md are all made from these classes. They have no `repr`, because
some hold keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from moongate.gateway.config.shapes import (
    REQUIRED,
    Anything,
    Either,
    Flag,
    ListOf,
    MapOf,
    Number,
    OneOf,
    Place,
    Table,
    Text,
    setting,
)
from moongate.payload import JsonObject

SCHEMA_KEY: Final = "$schema"  # may stand at the top of the file, for editors

SECONDS: Final = Number(0.001, 86_400, unit="seconds")
COUNT: Final = Number(1, 1_000_000, whole=True)
BYTES: Final = Number(1024, 1 << 30, whole=True)
NAME: Final = Text()
SECRET: Final = Text(about="a key: the text itself, $VAR, ${VAR} or file:PATH")
PROVIDER_NAME: Final = Text(r"[^\s,/]+", about="a name without blanks, commas and slashes")
USE: Final = Anything(
    'a transformer: "Name", ["Name", {options}] or {"Name": {options}}; or a list of them',
    {"type": ["string", "array", "object"]},
)


@dataclass(frozen=True, eq=False, repr=False)
class Timeouts:
    """How long each wait may last, in seconds."""

    connect: float = setting(SECONDS, 5.0, "opening a connection to the provider, TLS included")
    head: float = setting(SECONDS, 120.0, "from the request sent to the head of the provider's answer")
    first_event: float = setting(SECONDS, 120.0, "from the head of a stream to its first event")
    silence: float = setting(SECONDS, 60.0, "between two pieces of the provider's answer")
    stream: float = setting(SECONDS, 3600.0, "a whole streamed answer, all attempts included")
    whole: float = setting(SECONDS, 600.0, "a whole answer that is not streamed, all attempts included")
    commit: float = setting(SECONDS, 10.0, "how long status 200 waits for a stream's first event")
    keep_alive: float = setting(SECONDS, 15.0, "silence after which a client is sent a keep-alive")
    client_head: float = setting(SECONDS, 10.0, "a client sending the head of its request")
    client_body: float = setting(SECONDS, 30.0, "a client sending the body of its request")
    client_unread: float = setting(SECONDS, 60.0, "a client not reading what was written to it")
    idle: float = setting(SECONDS, 75.0, "an idle connection of a client is kept open")
    drain: float = setting(SECONDS, 30.0, "requests in flight may take when the gateway is told to stop")


@dataclass(frozen=True, eq=False, repr=False)
class Limits:
    """How much of everything is taken."""

    request_body: int = setting(BYTES, 32 << 20, "bytes of a request's body")
    request_head: int = setting(BYTES, 64 << 10, "bytes of a request's head")
    json_depth: int = setting(Number(8, 512, whole=True), 128, "levels of nesting in a request")
    event: int = setting(BYTES, 8 << 20, "bytes of one event of a provider's stream")
    answer: int = setting(BYTES, 64 << 20, "bytes of a provider's answer that is not streamed")
    in_flight: int = setting(COUNT, 1000, "requests at the same time, per worker; beyond: 503")
    connections: int = setting(COUNT, 2000, "connections to one provider, per worker")


@dataclass(frozen=True, eq=False, repr=False)
class Retries:
    """What happens when a provider fails before the first byte of its answer."""

    retries: int = setting(Number(0, 10, whole=True), 2, "further tries at the same target")
    attempts: int = setting(Number(1, 20, whole=True), 3, "upstream requests for one client request, in all")
    backoff: float = setting(Number(0, 60, unit="seconds"), 0.25, "before the first retry; doubles, with jitter")
    obey: float = setting(Number(0, 60, unit="seconds"), 10.0, "longest Retry-After that is waited for here")
    budget: float = setting(Number(0, 1), 0.2, "retries at the same time, as a share of the requests in flight")
    budget_floor: int = setting(Number(0, 1000, whole=True), 3, "retries at the same time that are always allowed")
    failures: int = setting(COUNT, 5, "failures in a row after which a target cools down")
    cool_down: float = setting(SECONDS, 5.0, "first cool-down of a target; doubles")
    cool_down_most: float = setting(SECONDS, 60.0, "longest cool-down of a target")


@dataclass(frozen=True, eq=False, repr=False)
class Log:
    """The access log, on standard output: one line per request."""

    format: str = setting(OneOf(("auto", "json", "text", "off")), "auto", "`auto`: text on a terminal, else JSON")
    bodies: bool = setting(Flag(), False, "log prompts and answers as well: only for hunting a fault")


@dataclass(frozen=True, eq=False, repr=False)
class ClientKey:
    """One key that clients may use."""

    key: str = setting(SECRET, REQUIRED, "the key")
    name: str = setting(NAME, "", "how the log calls it")
    rate: int = setting(Number(0, 1_000_000, whole=True), 0, "requests per minute; 0: no limit")
    concurrency: int = setting(
        Number(0, 1_000_000, whole=True), 0, "requests at the same time, per worker; 0: no limit"
    )
    at: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class ProviderKey:
    """One of a provider's keys."""

    key: str = setting(SECRET, REQUIRED, "the key")
    concurrency: int = setting(
        Number(0, 1_000_000, whole=True), 0, "requests at the same time, per worker; 0: no limit"
    )
    at: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A model of a provider: its name alone, or this object."""

    name: str = setting(NAME, REQUIRED, "as the provider calls it")
    alias: tuple[str, ...] = setting(ListOf(NAME, or_one=True), (), "other names that clients may ask for")
    options: JsonObject = setting(Anything("options of the chain's first transformer"), {}, "laid over the provider's")
    fallback: tuple[str, ...] = setting(ListOf(NAME, or_one=True), (), "models to try, in order, when this one fails")
    at: Place | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class CustomTransformer:
    """A transformer of your own."""

    path: str = setting(NAME, REQUIRED, "`module:Class`, `file.py` or `file.py:Class` (relative to this file)")
    name: str = setting(NAME, "", "its name in `use`; if absent, the name of the class")
    options: JsonObject = setting(Anything("options"), {}, "its default options")
    at: Place | None = field(default=None, compare=False, repr=False)


class _ShortForm:
    """A plain text stands for the object's one required setting."""

    __slots__ = ("_key", "_row", "_shape")

    def __init__(self, row: Any, key: str, shape: Text = NAME) -> None:
        self._row, self._key, self._shape = row, key, shape

    def read(self, value: Any, at: Place) -> Any:
        return self._row(**{self._key: self._shape.read(value, at)}, at=at)

    def schema(self) -> JsonObject:
        return self._shape.schema()

    def words(self) -> str:
        return self._shape.words()


@dataclass(frozen=True, eq=False, repr=False)
class Provider:
    """A place that serves models through `/chat/completions`."""

    name: str = setting(PROVIDER_NAME, REQUIRED, "your name for it")
    api_base_url: str = setting(Text(), REQUIRED, "its base (with or without `/v1`), or the whole `…/chat/completions`")
    models: tuple[Model, ...] = setting(
        ListOf(Either(_ShortForm(Model, "name"), Table(Model)), least=1), REQUIRED, "the models to offer"
    )
    api_key: tuple[ProviderKey, ...] = setting(
        ListOf(Either(_ShortForm(ProviderKey, "key", SECRET), Table(ProviderKey)), or_one=True), (), "its key or keys"
    )
    transformer: JsonObject = setting(
        Anything("`use`, and per model a key with its own `use`"), {}, "the chain that requests and answers run through"
    )
    headers: dict[str, str] = setting(MapOf(Text(), "header"), {}, "headers to send with every request")
    forward_headers: tuple[str, ...] = setting(ListOf(NAME), (), "client headers to pass on, besides the usual few")
    proxy: str = setting(Text(r"http://[^/\s]+/?", about="http://host:port"), "", "HTTP proxy (CONNECT)")
    ca_file: str = setting(NAME, "", "certificates to trust instead of the system's")
    at: Place | None = field(default=None, compare=False, repr=False)


_CLIENT_KEYS: Final = ListOf(Either(_ShortForm(ClientKey, "key", SECRET), Table(ClientKey)), or_one=True)
_CUSTOM: Final = Either(_ShortForm(CustomTransformer, "path"), Table(CustomTransformer))


class _Custom:
    """`{"Name": "path"}` or `[{"name": …, "path": …}]`."""

    __slots__ = ()

    def read(self, value: Any, at: Place) -> Any:
        if isinstance(value, list):
            return ListOf(_CUSTOM).read(value, at)
        found = MapOf(_CUSTOM).read(value, at)
        return tuple(
            CustomTransformer(each.path, each.name or name, each.options, each.at) for name, each in found.items()
        )

    def schema(self) -> JsonObject:
        return {"anyOf": [MapOf(_CUSTOM).schema(), ListOf(_CUSTOM).schema()]}

    def words(self) -> str:
        return "object: name → path (or an object, see CustomTransformer)"


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """The whole file."""

    providers: tuple[Provider, ...] = setting(ListOf(Table(Provider), or_one=True, least=1), REQUIRED, "who answers")
    host: str = setting(NAME, "127.0.0.1", "the address to listen on")
    port: int = setting(Number(0, 65_535, whole=True), 3000, "the port to listen on; 0: any free one")
    workers: int = setting(Number(1, 64, whole=True), 1, "worker processes")
    api_keys: tuple[ClientKey, ...] = setting(
        _CLIENT_KEYS, (), '"none" (only on loopback), or the keys of clients; if absent, one is made at first start'
    )
    allowed_hosts: tuple[str, ...] = setting(ListOf(NAME), (), "names in `Host` that are answered, besides our own")
    default: str = setting(NAME, "", "the model for requests that name none, or one that nobody has")
    aliases: dict[str, str] = setting(
        MapOf(NAME, "name or pattern"), {}, "names that clients ask for (`*` and `?` allowed) → models"
    )
    transformers: tuple[CustomTransformer, ...] = setting(_Custom(), (), "transformers of your own")
    timeouts: Timeouts = setting(Table(Timeouts), Timeouts(), "how long each wait may last")
    limits: Limits = setting(Table(Limits), Limits(), "how much of everything is taken")
    retries: Retries = setting(Table(Retries), Retries(), "what happens when a provider fails")
    log: Log = setting(Table(Log), Log(), "the access log")
    watch: bool = setting(Flag(), False, "reload when this file changes (SIGHUP always does)")
    at: Place | None = field(default=None, compare=False, repr=False)


TABLES: Final = (
    Settings, Provider, Model, ProviderKey, ClientKey, CustomTransformer, Timeouts, Limits, Retries, Log,
)  # fmt: skip
