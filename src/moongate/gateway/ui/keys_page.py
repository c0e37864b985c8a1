"""The page of client keys: create, rotate, disable and enable them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Final

from moongate.gateway.store.database import Database
from moongate.gateway.store.entities import StoredKey, Team
from moongate.gateway.store.fields import changed_key, key_view, parse_duration
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.ui.layout import count, dollars, post_form, row, shell, table
from moongate.gateway.ui.markup import Markup, tag
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page, redirect
from moongate.payload import JsonObject

View = Callable[[UiContext, UiRequest], Awaitable[UiResponse]]
MAX_SHOWN: Final = 500
# Fields of the form for a new key: name, title, placeholder.
FIELDS: Final = (
    ("name", "Name", "alice"), ("models", "Models", "all"), ("rpm", "Requests / min", "no limit"),
    ("tpm", "Tokens / min", "no limit"), ("budget", "Budget, $", "no limit"), ("reset", "Reset", "month"),
    ("expires", "Expires", "30d"),
)  # fmt: skip
COLUMNS: Final = (("Name", ""), ("Key", ""), ("Team", ""), ("Models", ""), ("Requests / min", "n"), ("Budget", "n"),
                  ("Expires", ""), ("Last used", ""), ("State", ""), ("", ""))  # fmt: skip


async def show_keys(context: UiContext, request: UiRequest, secret: tuple[str, str] | None = None) -> UiResponse:
    def read(database: Database) -> tuple[list[StoredKey], list[Team]]:
        store = KeyStore(database)
        return store.list_keys(limit=MAX_SHOWN), store.teams(limit=MAX_SHOWN)

    keys, teams = await context.in_store(read)
    names = {team.id: team.name for team in teams}
    rows = [_row(request, key_view(key), names) for key in keys]
    content = (
        tag(
            "div",
            tag("h1", "Keys"),
            tag("p", f"{count(len(keys))} in the store{_elsewhere(context)}", class_="hint"),
            class_="head",
        ),
        None if secret is None else _secret(*secret),
        tag("section", tag("h2", "New key"), _new_key(request, teams)),
        table(list(COLUMNS), rows, caption="Client keys")
        if rows
        else tag("p", "No keys in the store yet.", class_="empty"),
    )
    return page(shell(request, "Keys", *content))


def _elsewhere(context: UiContext) -> str:
    """Keys of the configuration are not in the store: they are changed there."""
    number = len(context.sources.state().config.client_keys or ())
    return f", {count(number)} in the configuration" if number else ""


def _secret(name: str, text: str) -> Markup:
    return tag("section", tag("h2", f"The key of {name}"), tag("p", tag("code", text), " ",
               tag("button", "Copy", type="button", data_copy_text=text)),
               tag("p", "It is shown this once.", class_="hint"), class_="secret", role="status")  # fmt: skip


def _new_key(request: UiRequest, teams: list[Team]) -> Markup:
    inputs = [
        tag("label", tag("span", title), tag("input", name=name, placeholder=hint, maxlength=200,
                                             required=name == "name"))
        for name, title, hint in FIELDS
    ]  # fmt: skip
    options = [tag("option", "none", value=""), *(tag("option", team.name, value=team.id) for team in teams)]
    inputs.append(tag("label", tag("span", "Team"), tag("select", *options, name="team")))
    inspect = tag("label", tag("span", "Inspect"), tag("select", tag("option", "no", value=""),
                  tag("option", "capture its requests", value="yes"), name="inspect"))  # fmt: skip
    return post_form(request, "/ui/keys", *inputs, inspect, tag("button", "Create", class_="primary"), class_="fields")


def _row(request: UiRequest, key: JsonObject, teams: dict[str, str]) -> Markup:
    base = f"/ui/keys/{key['id']}"
    is_off = bool(key["disabled"])
    captured = (key.get("metadata") or {}).get("inspect") is True
    state = tag("span", "disabled" if is_off else "active", class_="chip bad" if is_off else "chip good")
    name = key["name"] or key["label"]
    rotate = post_form(
        request,
        f"{base}/rotate",
        tag("button", "Rotate"),
        confirm=f"Rotate the key of {name}? Clients that use it are refused until they have the new one.",
    )
    word = "Enable" if is_off else "Disable"
    switch = post_form(
        request,
        f"{base}/{word.lower()}",
        tag("button", word, class_=None if is_off else "danger"),
        confirm=None if is_off else f"Disable the key of {name}? Its requests are refused.",
    )
    cells: list[object] = [
        key["name"] or "–", tag("code", key["label"], "…"), teams.get(key["team"] or "", "–"),
        ", ".join(key["models"]) or "all", count(key["rpm"]),
        "–" if key["budget"] is None else f"{dollars(key['budget'])} / {key['reset']}",
        _minute(key["expires"]), _minute(key["last_used"]),
        [state, tag("span", "captured", class_="chip") if captured else None], [rotate, switch],
    ]  # fmt: skip
    return row(cells, [kind for _, kind in COLUMNS])


def _minute(when: str | None) -> str:
    return "never" if not when else when[:16].replace("T", " ")


async def create_key(context: UiContext, request: UiRequest) -> UiResponse:
    fields = _fields(request)

    def create(database: Database) -> tuple[StoredKey, str]:
        wanted = changed_key(StoredKey("", b"", ""), fields, time.time())
        return KeyStore(database).create_key(wanted, request.actor)

    key, secret = await context.in_store(create)
    return await show_keys(context, request, (key.name or key.label, secret))


def _fields(request: UiRequest) -> JsonObject:
    """The form as the admin API takes it; what is left empty is absent."""
    form = {name: request.form[name].strip() for name in request.form if request.form[name].strip()}
    fields: JsonObject = {name: form[name] for name in ("name", "team", "expires", "reset") if name in form}
    for name in ("rpm", "tpm"):
        if name in form:
            fields[name] = int(form[name]) if form[name].isdecimal() and len(form[name]) < 16 else form[name]
    if "budget" in form:
        try:
            fields["budget"] = float(form["budget"])
        except ValueError:
            fields["budget"] = form["budget"]
    if "models" in form and form["models"] != "all":
        fields["models"] = [part.strip() for part in form["models"].split(",") if part.strip()]
    if form.get("inspect") == "yes":
        fields["metadata"] = {"inspect": True}
    return fields


async def rotate_key(context: UiContext, request: UiRequest) -> UiResponse:
    grace = parse_duration("grace", request.form["grace"]) if request.form.get("grace") else 0

    def rotate(database: Database) -> tuple[StoredKey, str]:
        return KeyStore(database).rotate_key(request.params["id"], grace, request.actor)

    key, secret = await context.in_store(rotate)
    return await show_keys(context, request, (key.name or key.label, secret))


def switch_key(*, disabled: bool) -> View:
    """Disables or enables a key."""

    async def switch(context: UiContext, request: UiRequest) -> UiResponse:
        def change(database: Database) -> None:
            KeyStore(database).change_key(
                request.params["id"], lambda key: changed_key(key, {"disabled": disabled}, 0.0), request.actor
            )

        await context.in_store(change)
        return redirect("/ui/keys")

    return switch
