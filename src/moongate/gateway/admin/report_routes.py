"""`/admin/v1/usage`, `/admin/v1/audit` and `/metrics`."""

from __future__ import annotations

from typing import Final

from moongate.errors import BadRequest
from moongate.gateway.admin import schemas
from moongate.gateway.admin.key_routes import page, page_size
from moongate.gateway.admin.route import AdminContext, AdminRequest, AdminResponse, AdminRoute, json_response
from moongate.gateway.http.pages import METRICS_TYPE, own_version
from moongate.gateway.limits.periods import day_from_text
from moongate.gateway.store.fields import DOLLAR, time_text
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.usage_report import DIMENSIONS, MAX_ROWS, usage_sums
from moongate.payload import JsonObject

_ONLY: Final = ("key", "team", "model", "provider")
MAX_ID: Final = 1 << 62


def show_usage(context: AdminContext, request: AdminRequest) -> AdminResponse:
    """Sums over whole UTC days; `from` and `to` are both included."""
    query = request.query
    by = query.get("by", "key").split(",")
    first, last = _day(request, "from"), _day(request, "to")
    only = {name: query[name].replace("\0", "\ufffd") for name in _ONLY if name in query}
    end = None if last is None else last + 1
    rows = usage_sums(context.database(), by, first_day=first, end_day=end, only=only)
    for row in rows:
        row["dollars"] = row.pop("cost") / DOLLAR
    return json_response({"object": "list", "data": rows, "has_more": len(rows) == MAX_ROWS})


def _day(request: AdminRequest, name: str) -> int | None:
    text = request.query.get(name)
    try:
        return None if text is None else day_from_text(text)
    except ValueError:
        raise BadRequest("expected a day like 2026-11-18", path=name, code="bad_query") from None


def show_audit(context: AdminContext, request: AdminRequest) -> AdminResponse:
    """The latest change first."""
    size, text = page_size(request), request.query.get("before")
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= MAX_ID):
        raise BadRequest("expected the id of an entry", path="before", code="bad_query")
    found = KeyStore(context.database()).audit(limit=size + 1, before=None if text is None else int(text))
    for each in found:
        each["time"] = time_text(each["time"])
    return page(found, size)


def show_metrics(context: AdminContext, _request: AdminRequest) -> AdminResponse:
    """Sums over all workers."""
    return 200, [METRICS_TYPE], context.metrics.text(own_version()).encode()


_NAME: Final[JsonObject] = {"type": "string", "description": "only this one"}
REPORT_ROUTES: Final = (
    AdminRoute(
        "GET",
        "/admin/v1/usage",
        "Sums of usage by UTC day",
        show_usage,
        query={
            "by": {
                "type": "string",
                "pattern": f"^({'|'.join(DIMENSIONS)})(,({'|'.join(DIMENSIONS)}))*$",
                "default": "key",
                "description": "what to sum by, separated by commas",
            },
            "from": schemas.DAY,
            "to": schemas.DAY,
            **dict.fromkeys(_ONLY, _NAME),
        },
        result=schemas.USAGE,
    ),
    AdminRoute(
        "GET",
        "/admin/v1/audit",
        "Who changed what, the latest change first",
        show_audit,
        query={
            "limit": schemas.PAGE_SIZE,
            "before": {
                "type": "integer", "minimum": 0, "maximum": MAX_ID, "description": "the last id of the page before"
            },
        },
        result=schemas.AUDIT,
    ),
    AdminRoute("GET", "/metrics", "Metrics in the text form of Prometheus", show_metrics, uses_store=False),
)  # fmt: skip
