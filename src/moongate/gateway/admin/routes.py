"""All routes of the admin listener: one table. Further pages (a user interface, say) are further rows."""

from __future__ import annotations

from typing import Final

from moongate.gateway.admin.key_routes import KEY_ROUTES
from moongate.gateway.admin.openapi import openapi_document
from moongate.gateway.admin.report_routes import REPORT_ROUTES
from moongate.gateway.admin.route import AdminContext, AdminRequest, AdminResponse, AdminRoute, json_response
from moongate.gateway.admin.routing_routes import ROUTING_ROUTES
from moongate.gateway.http.pages import own_version


def show_openapi(_context: AdminContext, _request: AdminRequest) -> AdminResponse:
    return json_response(openapi_document(ADMIN_ROUTES, own_version()))


ADMIN_ROUTES: Final = (
    *KEY_ROUTES,
    *REPORT_ROUTES,
    *ROUTING_ROUTES,
    AdminRoute(
        "GET",
        "/admin/v1/openapi.json",
        "This document",
        show_openapi,
        result={"type": "object"},
        uses_store=False,
    ),
)
