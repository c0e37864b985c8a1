"""`/admin/v1/routes`: how routes would choose now, as this worker sees it."""

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


ROUTING_ROUTES: Final = (
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
