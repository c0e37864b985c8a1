"""The OpenAPI document, made from the table of routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moongate.gateway.admin.route import AdminRoute
from moongate.gateway.admin.schemas import ERROR
from moongate.payload import JsonObject

_ABOUT: Final = "Keys, teams, usage and metrics of a gateway. Money is in dollars, days are those of UTC."
_MEANINGS: Final = {
    400: "The request is wrong",
    401: "No key, or a wrong one",
    403: "A web page of another origin, or a foreign Host",
    404: "There is no such thing",
    405: "Another method is needed",
    409: "It is in use",
    413: "The body is too large",
    429: "Too many wrong keys",
    503: "The store cannot be used now",
}
_ALWAYS: Final = (400, 401, 403, 429)


def openapi_document(routes: Sequence[AdminRoute], version: str) -> JsonObject:
    """OpenAPI 3.1."""
    paths: dict[str, JsonObject] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "moongate admin", "version": version, "description": _ABOUT},
        "security": [{"adminKey": []}],
        "paths": paths,
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {"adminKey": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(route: AdminRoute) -> JsonObject:
    parameters = [
        {"name": part[1:-1], "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for part in route.path.split("/")
        if part.startswith("{")
    ]
    parameters += [{"name": name, "in": "query", "schema": schema} for name, schema in route.query.items()]
    operation: JsonObject = {
        "summary": route.summary,
        "operationId": _operation_id(route),
        "responses": _responses(route),
    }
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        required = bool(route.body.get("required"))
        operation["requestBody"] = {"required": required, "content": {"application/json": {"schema": route.body}}}
    return operation


def _operation_id(route: AdminRoute) -> str:
    words = [part for part in route.path.removeprefix("/admin/v1").split("/") if part and not part.startswith("{")]
    one = "One" if route.path.endswith("}") else ""
    return route.method.lower() + one + "".join(word.replace(".", "_").title() for word in words)


def _responses(route: AdminRoute) -> JsonObject:
    kind = "application/json" if route.result is not None else "text/plain"
    schema = route.result if route.result is not None else {"type": "string"}
    found: JsonObject = {str(route.status): {"description": "Success", "content": {kind: {"schema": schema}}}}
    statuses = [*_ALWAYS, *route.errors, *((413,) if route.body is not None else ())]
    if route.uses_store:
        statuses += [404, 503]
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    for status in sorted(set(statuses)):
        found[str(status)] = {"description": _MEANINGS[status], "content": content}
    return found
