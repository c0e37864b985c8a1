"""`/admin/v1/keys` and `/admin/v1/teams`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from moongate.errors import BadRequest
from moongate.gateway.admin import schemas
from moongate.gateway.admin.route import AdminContext, AdminRequest, AdminResponse, AdminRoute, json_response
from moongate.gateway.store.entities import StoredKey, Team
from moongate.gateway.store.fields import changed_key, changed_team, key_view, parse_duration, team_view
from moongate.gateway.store.keys import KeyStore
from moongate.payload import JsonObject

_LIST_QUERY: Final[dict[str, JsonObject]] = {
    "limit": schemas.PAGE_SIZE,
    "after": {"type": "string", "description": "the last id of the page before"},
}


def page_size(request: AdminRequest) -> int:
    """The parameter `limit`. Raises BadRequest."""
    text = request.query.get("limit", str(schemas.DEFAULT_PAGE))
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= schemas.MAX_PAGE):
        raise BadRequest(f"expected a whole number from 1 to {schemas.MAX_PAGE}", path="limit", code="bad_query")
    return int(text)


def page(found: list[JsonObject], size: int) -> AdminResponse:
    """`found` may have one entry more than the page."""
    return json_response({"object": "list", "data": found[:size], "has_more": len(found) > size})


def _store(context: AdminContext) -> KeyStore:
    return KeyStore(context.database())


def list_keys(context: AdminContext, request: AdminRequest) -> AdminResponse:
    size, query = page_size(request), request.query
    keys = _store(context).list_keys(team=query.get("team"), limit=size + 1, after=_text(query.get("after", "")))
    return page([key_view(key) for key in keys], size)


def create_key(context: AdminContext, request: AdminRequest) -> AdminResponse:
    wanted = changed_key(StoredKey("", b"", ""), request.body, time.time())
    key, secret = _store(context).create_key(wanted, request.actor)
    return json_response({**key_view(key), "key": secret}, 201)


def show_key(context: AdminContext, request: AdminRequest) -> AdminResponse:
    return json_response(key_view(_store(context).key(_id(request))))


def change_key(context: AdminContext, request: AdminRequest) -> AdminResponse:
    def change(key: StoredKey) -> StoredKey:
        return changed_key(key, request.body, time.time())

    return json_response(key_view(_store(context).change_key(_id(request), change, request.actor)))


def rotate_key(context: AdminContext, request: AdminRequest) -> AdminResponse:
    unknown = next((name for name in request.body if name != "grace"), None)
    if unknown is not None:
        raise BadRequest("unknown field; known: grace", path=unknown[:40], code="unknown_field")
    grace = parse_duration("grace", request.body["grace"]) if "grace" in request.body else 0
    key, secret = _store(context).rotate_key(_id(request), grace, request.actor)
    return json_response({**key_view(key), "key": secret})


def delete_key(context: AdminContext, request: AdminRequest) -> AdminResponse:
    _store(context).delete_key(_id(request), request.actor)
    return json_response({"id": _id(request), "deleted": True})


def list_teams(context: AdminContext, request: AdminRequest) -> AdminResponse:
    size = page_size(request)
    teams = _store(context).teams(limit=size + 1, after=_text(request.query.get("after", "")))
    return page([team_view(team) for team in teams], size)


def create_team(context: AdminContext, request: AdminRequest) -> AdminResponse:
    team = _store(context).create_team(changed_team(Team("", ""), request.body), request.actor)
    return json_response(team_view(team), 201)


def show_team(context: AdminContext, request: AdminRequest) -> AdminResponse:
    return json_response(team_view(_store(context).team(_id(request))))


def change_team(context: AdminContext, request: AdminRequest) -> AdminResponse:
    def change(team: Team) -> Team:
        return changed_team(team, request.body)

    return json_response(team_view(_store(context).change_team(_id(request), change, request.actor)))


def delete_team(context: AdminContext, request: AdminRequest) -> AdminResponse:
    _store(context).delete_team(_id(request), request.actor)
    return json_response({"id": _id(request), "deleted": True})


def _switch(kind: str, disabled: bool) -> Callable[[AdminContext, AdminRequest], AdminResponse]:
    """Disables or enables a key or a team."""
    fields = {"disabled": disabled}

    def switch(context: AdminContext, request: AdminRequest) -> AdminResponse:
        store, each = _store(context), _id(request)
        if kind == "key":
            return json_response(
                key_view(store.change_key(each, lambda key: changed_key(key, fields, 0.0), request.actor))
            )
        return json_response(team_view(store.change_team(each, lambda team: changed_team(team, fields), request.actor)))

    return switch


def _id(request: AdminRequest) -> str:
    return _text(request.params["id"])


def _text(value: str) -> str:
    """Without NUL, which PostgreSQL does not take."""
    return value.replace("\0", "\ufffd")


def _entity_routes(
    kind: str, view: JsonObject, listed: JsonObject, change: JsonObject, *answers: Callable[..., AdminResponse]
) -> tuple[AdminRoute, ...]:
    """What keys and teams have in common: list, show, change, delete, disable, enable."""
    base, each = f"/admin/v1/{kind}s", f"/admin/v1/{kind}s/{{id}}"
    query = {**_LIST_QUERY, "team": {"type": "string"}} if kind == "key" else _LIST_QUERY
    list_them, show, change_one, delete = answers
    return (
        AdminRoute("GET", base, f"List the {kind}s", list_them, query, result=listed),
        AdminRoute("GET", each, f"Show one {kind}", show, result=view, errors=(404,)),
        AdminRoute(
            "PATCH", each, f"Change a {kind}; null removes a limit", change_one, body=change, result=view,
            errors=(404, 409),
        ),
        AdminRoute("DELETE", each, f"Delete a {kind}", delete, result=schemas.DELETED, errors=(404, 409)),
        AdminRoute("POST", f"{each}/disable", f"Refuse a {kind}", _switch(kind, True), result=view, errors=(404,)),
        AdminRoute("POST", f"{each}/enable", f"Accept it again: a {kind}", _switch(kind, False), result=view,
                   errors=(404,)),
    )  # fmt: skip


KEY_ROUTES: Final = (
    *_entity_routes("key", schemas.KEY, schemas.KEYS, schemas.CHANGE_KEY, list_keys, show_key, change_key, delete_key),
    AdminRoute(
        "POST", "/admin/v1/keys", "Make a key", create_key, body=schemas.CHANGE_KEY, result=schemas.NEW_KEY, status=201,
        errors=(409,),
    ),
    AdminRoute(
        "POST", "/admin/v1/keys/{id}/rotate", "Give a key a new text", rotate_key, body=schemas.ROTATE,
        result=schemas.NEW_KEY, errors=(404,),
    ),
    *_entity_routes(
        "team", schemas.TEAM, schemas.TEAMS, schemas.CHANGE_TEAM, list_teams, show_team, change_team, delete_team
    ),
    AdminRoute(
        "POST", "/admin/v1/teams", "Make a team", create_team, body=schemas.CREATE_TEAM, result=schemas.TEAM,
        status=201, errors=(409,),
    ),
)  # fmt: skip
