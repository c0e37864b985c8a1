"""What all pages have in common: head, navigation, forms, tables and numbers."""

from __future__ import annotations

from typing import Final

from moongate.errors import GatewayError
from moongate.gateway.store.fields import money_text
from moongate.gateway.ui.markup import Markup, render, tag
from moongate.gateway.ui.request import UiRequest

SECTIONS: Final = (
    ("/ui/requests", "Requests"),
    ("/ui/vendors", "Vendors"),
    ("/ui/usage", "Usage"),
    ("/ui/keys", "Keys"),
    ("/ui/configuration", "Configuration"),
)
MINUTE: Final = 60_000  # milliseconds
LONG_TIMES: Final = (("d", 1440 * MINUTE), ("h", 60 * MINUTE))


def shell(request: UiRequest, title: str, *content: object, scripts: tuple[str, ...] = ()) -> Markup:
    """A whole page."""
    links = [
        tag("a", name, href=path, aria_current="page" if request.path.startswith(path) else None)
        for path, name in SECTIONS
    ]
    bar = tag(
        "header",
        tag("a", tag("img", src="/ui/assets/icon.svg", alt="", width=22, height=22), "moongate", href="/ui/requests",
            class_="brand"),
        tag("nav", *links, aria_label="Pages"),
        tag("button", "Theme", type="button", id="theme", class_="quiet"),
        post_form(request, "/ui/logout", tag("button", "Log out", class_="quiet")),
        class_="bar",
    )  # fmt: skip
    skip = tag("a", "Skip to the content", href="#main", class_="skip")
    return _html(title, skip, bar, tag("main", *content, id="main", tabindex="-1"), scripts=("page.js", *scripts))


def _html(title: str, *body: object, scripts: tuple[str, ...] = ()) -> Markup:
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("title", f"{title} · moongate"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("link", rel="icon", href="/ui/assets/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href="/ui/assets/style.css"),
        *(tag("script", src=f"/ui/assets/{name}", type="module") for name in scripts),
    )
    return tag("html", head, tag("body", *body), lang="en")


def login_page(problem: str = "") -> Markup:
    """For a browser without a session."""
    form = tag(
        "form",
        tag("img", src="/ui/assets/icon.svg", alt="", width=56, height=56),
        tag("h1", "moongate"),
        tag("p", problem, role="alert", class_="problem") if problem else None,
        tag("label", "Admin key", for_="key"),
        tag("input", id="key", name="key", type="password", autocomplete="current-password", required=True,
            autofocus=True),
        tag("button", "Log in", class_="primary"),
        tag("p", "The key is in ", tag("code", "$MOONGATE_HOME/admin-key"),
            ", or as configured. A terminal with ", tag("code", "moongate serve"), " shows a link that logs in once.",
            class_="hint"),
        method="post",
        action="/ui/login",
        class_="login",
    )  # fmt: skip
    return _html("Log in", tag("main", form, id="main"))


def error_page(error: GatewayError) -> Markup:
    back = tag("p", tag("a", "To the requests", href="/ui/requests"))
    return _html(f"Error {error.status}", tag("main", tag("h1", f"{error.status}"), tag("p", str(error)), back,
                                              class_="login", id="main"))  # fmt: skip


def post_form(
    request: UiRequest, action: str, *content: object, class_: str | None = None, confirm: str | None = None
) -> Markup:
    """A form that carries the session's token. `confirm` is asked before it is sent."""
    token = tag("input", type="hidden", name="token", value=request.token)
    return tag("form", token, *content, method="post", action=action, class_=class_,
               data_confirm=confirm)  # fmt: skip


def table(
    columns: list[tuple[str, str]],
    rows: list[Markup],
    *,
    caption: str,
    id_: str | None = None,
    class_: str | None = None,
) -> Markup:
    """`columns` are titles and classes; "n" is a number. `id_` is that of the body."""
    head = tag("tr", *(tag("th", title, scope="col", class_=kind or None) for title, kind in columns))
    body = tag("tbody", *rows, id=id_)
    inner = tag("table", tag("caption", caption, class_="hidden"), tag("thead", head), body, class_=class_)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def row(cells: list[object], classes: list[str]) -> Markup:
    pairs = zip(cells, classes, strict=True)
    return tag("tr", *(tag("td", cell, class_=kind or None) for cell, kind in pairs))


def tiles(*pairs: tuple[str, object]) -> Markup:
    """Numbers with their names."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", render(value))) for name, value in pairs), class_="tiles")


def milliseconds(value: object) -> str:
    """As short as it can be read: 12 ms, 1.24 s, 2.0 min, 5.2 h, 3.1 d."""
    if not isinstance(value, (int, float)):
        return "–"
    if value < 10:
        return f"{value:.1f} ms"
    if value < 1000:
        return f"{value:.0f} ms"
    if value < MINUTE:
        return f"{value / 1000:.2f} s"
    unit, size = next((each for each in LONG_TIMES if value >= 2 * each[1]), ("min", MINUTE))
    return f"{value / size:.1f} {unit}"


def dollars(value: object) -> str:
    if not isinstance(value, (int, float)):
        return "–"
    return f"${money_text(value)}" if value else "$0"


def count(value: object) -> str:
    """With thin spaces between thousands."""
    return f"{value:,}".replace(",", "\u202f") if isinstance(value, int) else "–"
