"""Everything that is not a conversation: health, readiness, version, models, metrics, token counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from moongate import payload
from moongate.dialects import MESSAGES
from moongate.errors import MethodNotAllowed, NotFound
from moongate.gateway.outlet import HeaderList
from moongate.gateway.reading import read_object
from moongate.payload import dumps

if TYPE_CHECKING:
    from moongate.gateway.app import Gateway


class Ask(NamedTuple):
    """A request for a page."""

    gateway: Gateway
    method: str
    head: Mapping[bytes, bytes]
    body: bytes


Answer = tuple[int, HeaderList, bytes]
Page = Callable[[Ask], Answer]

_JSON: Final = (b"content-type", b"application/json")
_CREATED: Final = 1_751_328_000  # the moment is not known; clients only want a number


@cache
def own_version() -> str:
    """Looked up when it is first asked for: the look-up is slow."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("moongate")
    except PackageNotFoundError:
        return "unknown"  # it runs from a folder that was never installed


def _get(ask: Ask) -> None:
    if ask.method not in ("GET", "HEAD"):
        raise MethodNotAllowed("This path takes GET")


def _document(status: int, value: Any) -> Answer:
    return status, [_JSON], dumps(value)


def root(ask: Ask) -> Answer:
    _get(ask)
    return _document(200, {"name": "moongate", "status": "ok"})


def health(ask: Ask) -> Answer:
    """The process lives."""
    _get(ask)
    return _document(200, {"status": "ok"})


def ready(ask: Ask) -> Answer:
    """New requests are welcome."""
    _get(ask)
    if ask.gateway.draining:
        status, headers, data = _document(503, {"status": "draining"})
        return status, [*headers, (b"retry-after", b"2")], data
    return _document(200, {"status": "ready"})


def show_version(ask: Ask) -> Answer:
    _get(ask)
    compiled = not str(payload.__file__).endswith(".py")
    return _document(200, {"name": "moongate", "version": own_version(), "compiled": compiled})


def models(ask: Ask) -> Answer:
    """OpenAI's list, or Anthropic's for a client that speaks its version header."""
    _get(ask)
    listed = ask.gateway.state.routes.listed()
    if b"anthropic-version" in ask.head:
        return _document(200, MESSAGES.models([name for name, _ in listed]))
    return _document(200, {"object": "list", "data": [_model(name, route.provider) for name, route in listed]})


def one_model(name: str) -> Page:
    def page(ask: Ask) -> Answer:
        _get(ask)
        for each, route in ask.gateway.state.routes.listed():
            if each == name or route.name == name:
                if b"anthropic-version" in ask.head:
                    return _document(200, MESSAGES.models([each])["data"][0])
                return _document(200, _model(each, route.provider))
        raise NotFound(f"The model {name[:200]!r} does not exist", code="model_not_found")

    return page


def metrics(ask: Ask) -> Answer:
    _get(ask)
    text = ask.gateway.metrics.text(own_version()).encode()
    return 200, [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8")], text


def count_tokens(ask: Ask) -> Answer:
    if ask.method != "POST":
        raise MethodNotAllowed("This path takes POST")
    return _document(200, MESSAGES.count_tokens(read_object(ask.body, ask.gateway.state.limits.json_depth)))


def _model(name: str, provider: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": provider}


# Without a key these tell nobody anything; load balancers and agents ask them before they have one.
OPEN_PAGES: Final[Mapping[str, Page]] = {
    "/": root,
    "/health": health,
    "/ready": ready,
    "/version": show_version,
}
PAGES: Final[Mapping[str, Page]] = {
    **OPEN_PAGES,
    "/v1/models": models,
    "/models": models,
    "/metrics": metrics,
    "/v1/messages/count_tokens": count_tokens,
}
# These read a body as large as a conversation's, so they count as one for the limits.
COSTLY_PAGES: Final = frozenset({"/v1/messages/count_tokens"})
