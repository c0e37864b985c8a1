"""One row of the admin listener's table of routes. The dispatcher and the OpenAPI document are made from the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl

from moongate.errors import BadRequest, MethodNotAllowed, NotFound
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.server.response_writer import HeaderList
from moongate.gateway.store.database import Database
from moongate.payload import JsonObject, dumps

MAX_QUERY_FIELDS: Final = 20
JSON_TYPE: Final = (b"content-type", b"application/json")
NO_VALUES: Final[Mapping[str, str]] = {}
AdminResponse = tuple[int, HeaderList, bytes]
ShowNodes = Callable[[], JsonObject]  # the gateways that share the state
Explain = Callable[[str | None], list[JsonObject]]  # how a route chooses, or all of them; raises GatewayError


@dataclass(frozen=True, slots=True)
class AdminRequest:
    """A request that was authenticated and matched. `params` are the parts of the path that the route names."""

    actor: str  # for the audit log
    params: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    body: JsonObject = field(default_factory=dict)


class AdminContext:
    """What routes work on. `database` raises StoreError if there is none; it belongs to one thread."""

    def __init__(self, metrics: Metrics, database: Callable[[], Database], explain: Explain, nodes: ShowNodes) -> None:
        self.metrics = metrics
        self.nodes = nodes
        self.database = database
        self.explain = explain


@dataclass(frozen=True, slots=True)
class AdminRoute:
    """`uses_store`: it runs in the thread that has the database, else on the event loop.

    `query` and `body` are JSON schemas, by the name of the parameter and of the whole body; `result` is the schema of a
    successful answer with the status `status`, None if that is not JSON. `errors` are further statuses.
    """

    method: str
    path: str  # parts in braces match one segment
    summary: str
    answer: Callable[[AdminContext, AdminRequest], AdminResponse]
    query: Mapping[str, JsonObject] = field(default_factory=dict)
    body: JsonObject | None = None
    result: JsonObject | None = None
    status: int = 200
    errors: Sequence[int] = ()
    uses_store: bool = True


def json_response(value: object, status: int = 200) -> AdminResponse:
    return status, [JSON_TYPE], dumps(value)


class RouteTable:
    """Finds the route of a request."""

    def __init__(self, routes: Sequence[AdminRoute]) -> None:
        self._by_size: dict[int, list[tuple[list[str], AdminRoute]]] = {}
        for route in routes:
            parts = route.path.split("/")
            self._by_size.setdefault(len(parts), []).append((parts, route))

    def find(self, method: str, path: str) -> tuple[AdminRoute, dict[str, str]]:
        """The route and the parts that its path names. Raises NotFound, MethodNotAllowed."""
        given = path.split("/")
        methods: set[str] = set()
        for parts, route in self._by_size.get(len(given), ()):
            params = _matched(parts, given)
            if params is None:
                continue
            if route.method == method or (route.method == "GET" and method == "HEAD"):
                return route, params
            methods.add(route.method)
        if methods:
            raise WrongMethod(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
        raise NotFound(
            f"There is nothing at {path[:200]!r}; /admin/v1/openapi.json lists all paths", code="no_such_path"
        )


class WrongMethod(MethodNotAllowed):
    """`allow` is for the header of that name."""

    def __init__(self, methods: Sequence[str]) -> None:
        self.allow = ", ".join(methods).encode()
        super().__init__(f"This path takes {', '.join(methods)}")


def _matched(parts: Sequence[str], given: Sequence[str]) -> dict[str, str] | None:
    params: dict[str, str] = {}
    for part, text in zip(parts, given, strict=True):
        if part.startswith("{"):
            params[part[1:-1]] = text
        elif part != text:
            return None
    return params


def read_query(query: bytes, known: Mapping[str, JsonObject]) -> dict[str, str]:
    """The parameters of a query, each at most once. Raises BadRequest."""
    try:
        pairs = parse_qsl(
            query.decode("ascii"), keep_blank_values=True, strict_parsing=bool(query), errors="strict",
            max_num_fields=MAX_QUERY_FIELDS,
        )  # fmt: skip
    except ValueError:
        raise BadRequest("The query cannot be read: write name=value&name=value", code="bad_query") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        if name not in known:
            listed = ", ".join(known) or "none"
            raise BadRequest(f"unknown parameter; known: {listed}", path=name[:40], code="unknown_parameter")
        if name in found:
            raise BadRequest("the parameter is given twice", path=name, code="bad_query")
        found[name] = value
    return found
