"""Answers requests to `/ui`: who is logged in, which page it is, and the headers that keep a browser safe."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from hmac import compare_digest
from typing import Final

from moongate.errors import Forbidden, GatewayError, MethodNotAllowed, NotFound
from moongate.gateway.admin.wrong_keys import WrongKeys
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.ui.asset_files import asset
from moongate.gateway.ui.layout import error_page, login_page
from moongate.gateway.ui.page_table import find_page
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page, read_fields, redirect
from moongate.gateway.ui.sessions import Sessions, cookie_header, form_token, session_cookie

ROOT: Final = "/ui"
LOGIN: Final = "/ui/login"
LOGOUT: Final = "/ui/logout"
EVENTS: Final = "/ui/events"
ASSETS: Final = "/ui/assets/"
SAFE_HEADERS: Final = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (b"referrer-policy", b"same-origin"),  # no-referrer would make the Origin of forms null
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)


def is_ui_path(path: str) -> bool:
    return path in ("/", ROOT) or path.startswith(ROOT + "/")


class UiApp:
    """`answer` after Host and Origin were checked."""

    def __init__(self, context: UiContext, sessions: Sessions, wrong_keys: WrongKeys) -> None:
        self._context = context
        self._sessions = sessions
        self._wrong_keys = wrong_keys

    @property
    def sessions(self) -> Sessions:
        return self._sessions

    async def answer(self, head: RequestHead, body: bytes, address: str, admin_key: str) -> UiResponse:
        """Never raises a GatewayError: it becomes a page."""
        try:
            found = await self._answer(head, body, address, admin_key)
        except GatewayError as error:
            found = page(error_page(error), error.status)
            if isinstance(error, MethodNotAllowed):
                found.headers.append((b"allow", b"GET, HEAD, POST"))
        return UiResponse(found.status, [*found.headers, *SAFE_HEADERS], found.data, found.stream)

    async def _answer(self, head: RequestHead, body: bytes, address: str, admin_key: str) -> UiResponse:
        method, path, headers = head.method, head.path, head.fields
        if method not in ("GET", "HEAD", "POST"):
            raise MethodNotAllowed("The pages take GET and POST")
        if method == "POST" and b"origin" not in headers:  # browsers always send it
            raise Forbidden("A form without an Origin is refused", code="no_origin")
        if path.startswith(ASSETS) and method != "POST":
            return asset(path.removeprefix(ASSETS))
        query = read_fields(head.query)
        if path == LOGIN and method == "POST":
            return await self._log_in(headers, read_fields(body), address, admin_key)
        if path == LOGIN and "token" in query:
            return await self._log_in_by_link(query["token"], headers, address, admin_key)
        session = session_cookie(headers.get(b"cookie", b""))
        if not (session and self._sessions.is_valid(session, admin_key)):
            return _no_session(method, path)
        if path in ("/", ROOT, f"{ROOT}/", LOGIN):
            return redirect("/ui/requests")
        form = read_fields(body) if method == "POST" else {}
        if method == "POST" and not compare_digest(form.get("token", "").encode(), form_token(session).encode()):
            raise Forbidden("The form is out of date: go back, load the page again and send it once more")
        if path == LOGOUT and method == "POST":
            self._sessions.end(session, admin_key)
            ended = redirect(LOGIN)
            ended.headers.append((b"set-cookie", cookie_header("", secure=_is_secure(headers))))
            return ended
        view, params = find_page(method, path)
        if view is None:
            raise NotFound("There is no such page", code="no_such_path")
        request = UiRequest(path, query, form, form_token(session), f"ui {address}", params)
        return await view(self._context, request)

    async def _log_in(
        self, headers: Mapping[bytes, bytes], form: Mapping[str, str], address: str, admin_key: str
    ) -> UiResponse:
        self._wrong_keys.require_turn(address)
        given = form.get("key", "").strip().encode()
        if not compare_digest(sha256(given).digest(), sha256(admin_key.encode()).digest()):
            await self._wrong_keys.delay(address)
            return page(login_page("This is not the admin key"), 401)
        return self._logged_in(headers, admin_key)

    async def _log_in_by_link(
        self, token: str, headers: Mapping[bytes, bytes], address: str, admin_key: str
    ) -> UiResponse:
        self._wrong_keys.require_turn(address)
        if not self._sessions.redeem(token, admin_key):
            session = session_cookie(headers.get(b"cookie", b""))
            if session and self._sessions.is_valid(session, admin_key):
                return redirect("/ui/requests")
            await self._wrong_keys.delay(address)
            return page(login_page("This link was used already, or is too old"), 401)
        return self._logged_in(headers, admin_key)

    def _logged_in(self, headers: Mapping[bytes, bytes], admin_key: str) -> UiResponse:
        found = redirect("/ui/requests")
        cookie = cookie_header(self._sessions.begin(admin_key), secure=_is_secure(headers))
        found.headers.append((b"set-cookie", cookie))
        return found


def _no_session(method: str, path: str) -> UiResponse:
    """A page sends to the login; what is not a page for people says only that it is needed."""
    if path == LOGIN and method != "POST":
        return page(login_page())
    if method == "POST" or path == EVENTS:
        return page(login_page("Log in first"), 401)
    return redirect(LOGIN)


def _is_secure(headers: Mapping[bytes, bytes]) -> bool:
    """Did the browser come over TLS, to a proxy in front of us?"""
    return headers.get(b"origin", b"").startswith(b"https://")
