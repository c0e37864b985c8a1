"""Every path that is not a front: health, readiness, version, models, metrics, and the fronts' own pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from moongate import __version__, payload
from moongate.dialects.fronts import FRONTS, Front
from moongate.errors import MethodNotAllowed, NotFound
from moongate.gateway.http.auth import Client
from moongate.gateway.http.json_body import read_object
from moongate.gateway.http.limits_page import limits_page
from moongate.gateway.routing.route import Route
from moongate.gateway.server.response_writer import HeaderList
from moongate.payload import JsonObject, dumps

if TYPE_CHECKING:
    from moongate.gateway.app import Gateway


class PageRequest(NamedTuple):
    """A request for a page."""

    gateway: Gateway
    method: str
    front: Front  # in whose form to answer
    body: bytes
    client: Client | None  # None: the page needs no key


PageResponse = tuple[int, HeaderList, bytes]
Page = Callable[[PageRequest], PageResponse]

JSON_TYPE: Final = (b"content-type", b"application/json")
OWNER: Final = "moongate"  # of routes, in lists of models
METRICS_TYPE: Final = (b"content-type", b"text/plain; version=0.0.4; charset=utf-8")


def own_version() -> str:
    return __version__


def is_compiled() -> bool:
    """Whether this is the gateway as machine code."""
    return not str(payload.__file__).endswith(".py")


def _require_get(request: PageRequest) -> None:
    if request.method not in ("GET", "HEAD"):
        raise MethodNotAllowed("This path takes GET")


def _json(status: int, value: JsonObject) -> PageResponse:
    return status, [JSON_TYPE], dumps(value)


def root(request: PageRequest) -> PageResponse:
    _require_get(request)
    return _json(200, {"name": "moongate", "status": "ok"})


def health(request: PageRequest) -> PageResponse:
    """Liveness: the process runs."""
    _require_get(request)
    return _json(200, {"status": "ok"})


def ready(request: PageRequest) -> PageResponse:
    """Readiness: new requests are accepted."""
    _require_get(request)
    if request.gateway.draining:
        status, headers, data = _json(503, {"status": "draining"})
        return status, [*headers, (b"retry-after", b"2")], data
    return _json(200, {"status": "ready"})


def show_version(request: PageRequest) -> PageResponse:
    _require_get(request)
    return _json(200, {"name": "moongate", "version": own_version(), "compiled": is_compiled()})


def models(request: PageRequest) -> PageResponse:
    """The models of the configuration."""
    _require_get(request)
    return _json(200, request.front.models([(name, route.provider or OWNER) for name, route in _listed(request)]))


def _listed(request: PageRequest) -> Iterator[tuple[str, Route]]:
    """The models that the client may use, with the names under which they are listed."""
    client = request.client
    for name, route in request.gateway.state.routes.listed():
        if client is None or not client.allowed or client.may_use(name, route.model, route.name):
            yield name, route


def own_limits(request: PageRequest) -> PageResponse:
    """The client's own key: its limits, and what is left of them."""
    _require_get(request)
    assert request.client is not None
    return _json(200, limits_page(request.client, request.gateway.state.limiter))


def one_model(name: str) -> Page:
    def page(request: PageRequest) -> PageResponse:
        _require_get(request)
        for each, route in _listed(request):
            if each == name or route.name == name:
                return _json(200, request.front.models([(each, route.provider or OWNER)])["data"][0])
        shown = repr(name) if len(name) <= 200 else f"({len(name)} characters)"
        raise NotFound(f"The model {shown} does not exist", code="model_not_found")

    return page


def metrics(request: PageRequest) -> PageResponse:
    """For clients only if the configuration says so."""
    if request.gateway.state.config.settings.metrics != "clients":
        raise NotFound(
            'Metrics are on the admin listener ("admin"), or also here with "metrics": "clients"', code="no_such_path"
        )
    _require_get(request)
    return 200, [METRICS_TYPE], request.gateway.metrics.text(own_version()).encode()


def _front_page(answer: Callable[[JsonObject], JsonObject]) -> Page:
    """A page that belongs to one front: JSON object in, JSON object out."""

    def page(request: PageRequest) -> PageResponse:
        if request.method != "POST":
            raise MethodNotAllowed("This path takes POST")
        limits = request.gateway.state.limits
        return _json(200, answer(read_object(request.body, limits.json_depth, limits.json_values)))

    return page


# These need no key: they disclose nothing, and load balancers and agents ask them before they have one.
_FRONT_PAGES: Final = {path: _front_page(answer) for front in FRONTS for path, answer in front.pages.items()}
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
    "/v1/key": own_limits,
    **_FRONT_PAGES,
}
# Asked every few seconds by a service manager, or at every start by Claude Code, without a key.
PROBES: Final = frozenset({"/", "/api/hello", "/health", "/ready"})
# These read a body as large as a completion's, so the same limits apply to them.
COSTLY_PAGES: Final = frozenset(_FRONT_PAGES)
