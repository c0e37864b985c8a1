"""A request to the pages, what they answer, and what they work on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol, TypeVar
from urllib.parse import parse_qsl, urlencode

from moongate.errors import BadRequest
from moongate.gateway.config.load import Config
from moongate.gateway.inspect.inspector import Inspector
from moongate.gateway.inspect.recent_requests import RecentRequests
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.server.response_writer import HeaderList, ResponseWriter
from moongate.gateway.state import GatewayState
from moongate.gateway.store.database import Database
from moongate.gateway.ui.markup import Markup, document
from moongate.payload import JsonObject

MAX_FIELDS: Final = 50
HTML_TYPE: Final = (b"content-type", b"text/html; charset=utf-8")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class UiRequest:
    """A request whose session is valid; `token` is for its forms. `form` is the body of a POST."""

    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    token: str
    actor: str  # for the audit log
    params: Mapping[str, str] = field(default_factory=dict)

    def url(self, **changes: str | int | None) -> str:
        """This page with other parameters; None or "" removes one."""
        query = {**self.query, **{name: str(value) for name, value in changes.items() if value not in (None, "")}}
        for name, value in changes.items():
            if value in (None, ""):
                query.pop(name, None)
        return f"{self.path}?{urlencode(query)}" if query else self.path


@dataclass(frozen=True, slots=True)
class UiResponse:
    """`stream` writes the body, if it is not `data`."""

    status: int
    headers: HeaderList
    data: bytes = b""
    stream: Callable[[ResponseWriter], Awaitable[None]] | None = None


class RunInStore(Protocol):
    """Runs work in the thread that has the database."""

    async def __call__(self, work: Callable[[Database], Result]) -> Result: ...


@dataclass(frozen=True, slots=True)
class UiSources:
    """What the service gives to the pages."""

    recent: RecentRequests
    inspector: Inspector
    state: Callable[[], GatewayState]
    metrics: Metrics
    describe: Callable[[Config], str] = field(default=lambda _: "")
    folder: Path | None = None  # that the workers share
    home: Path | None = None  # the gateway's own folder, with reports of `moongate verify`
    nodes: Callable[[], JsonObject] = field(default=dict)  # the gateways that share a state


@dataclass(frozen=True, slots=True)
class UiContext:
    sources: UiSources
    in_store: RunInStore


def page(content: Markup, status: int = 200) -> UiResponse:
    return UiResponse(status, [HTML_TYPE], document(content))


def redirect(to: str) -> UiResponse:
    return UiResponse(303, [(b"location", to.encode("ascii"))])


def read_fields(data: bytes) -> dict[str, str]:
    """The fields of a query or a form; of a repeated one the last. Raises BadRequest."""
    try:
        pairs = parse_qsl(data.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="replace")
    except ValueError:
        raise BadRequest("The form cannot be read", code="bad_form") from None
    return dict(pairs)
