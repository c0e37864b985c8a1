"""`/admin/v1/routes`: how routes choose now; `/admin/v1/nodes`: which gateways there are. As this worker sees it."""

from __future__ import annotations

from typing import Final

from moongate.errors import GatewayError, NotFound
from moongate.gateway.admin import schemas
from moongate.gateway.admin.route import AdminContext, AdminRequest, AdminResponse, AdminRoute, json_response


def show_routes(context: AdminContext, request: AdminRequest) -> AdminResponse:
    """All configured routes, or what a name stands for."""
    name = request.query.get("name")
    try:
        return json_response({"object": "list", "data": context.explain(name), "has_more": False})
    except GatewayError as error:
        raise NotFound(error.message, code="model_not_found") from None


def show_nodes(context: AdminContext, _request: AdminRequest) -> AdminResponse:
    """The gateways that share the state, this one included."""
    return json_response(context.nodes())


ROUTING_ROUTES: Final = (
    AdminRoute(
        "GET",
        "/admin/v1/nodes",
        "The gateways that share the state, and whether this one reaches it",
        show_nodes,
        result=schemas.NODES,
        uses_store=False,
    ),
    AdminRoute(
        "GET",
        "/admin/v1/routes",
        "How routes choose now: scores, prices, health and the share of new sessions",
        show_routes,
        query={"name": {"type": "string", "description": "a name that clients may ask for; absent: all routes"}},
        result=schemas.ROUTES,
        errors=(404,),
        uses_store=False,
    ),
)
