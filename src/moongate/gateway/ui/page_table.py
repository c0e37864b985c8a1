"""Which page has which path."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import unquote

from moongate.gateway.ui.configuration_page import show_configuration
from moongate.gateway.ui.keys_page import create_key, rotate_key, show_keys, switch_key
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse
from moongate.gateway.ui.request_events import stream_requests
from moongate.gateway.ui.request_list_page import request_captures, show_requests
from moongate.gateway.ui.request_page import show_case, show_part, show_request
from moongate.gateway.ui.usage_page import show_usage
from moongate.gateway.ui.vendors_page import show_vendors

View = Callable[[UiContext, UiRequest], Awaitable[UiResponse]]
PAGES: Final[tuple[tuple[str, str, View], ...]] = (
    ("GET", "/ui/requests", show_requests),
    ("GET", "/ui/events", stream_requests),
    ("POST", "/ui/requests/capture", request_captures),
    ("GET", "/ui/requests/{id}", show_request),
    ("GET", "/ui/requests/{id}/case.json", show_case),
    ("GET", "/ui/requests/{id}/part/{part}", show_part),
    ("GET", "/ui/vendors", show_vendors),
    ("GET", "/ui/usage", show_usage),
    ("GET", "/ui/keys", show_keys),
    ("POST", "/ui/keys", create_key),
    ("POST", "/ui/keys/{id}/rotate", rotate_key),
    ("POST", "/ui/keys/{id}/disable", switch_key(disabled=True)),
    ("POST", "/ui/keys/{id}/enable", switch_key(disabled=False)),
    ("GET", "/ui/configuration", show_configuration),
)


def find_page(method: str, path: str) -> tuple[View | None, dict[str, str]]:
    given = path.split("/")
    wanted = "GET" if method == "HEAD" else method
    for page_method, pattern, view in PAGES:
        parts = pattern.split("/")
        if page_method != wanted or len(parts) != len(given):
            continue
        if all(part.startswith("{") or part == text for part, text in zip(parts, given, strict=True)):
            pairs = zip(parts, given, strict=True)
            return view, {part[1:-1]: unquote(text, errors="replace") for part, text in pairs if part.startswith("{")}
    return None, {}
