"""The JSON Schema of the configuration file and its documentation, both made from the tables in settings.py."""

from __future__ import annotations

from dataclasses import Field
from typing import Any, Final

from moongate.gateway.config.settings import SCHEMA_KEY, TABLES, Provider, Settings
from moongate.gateway.config.shapes import ListOf
from moongate.gateway.config.table import REQUIRED, Table, settings_of
from moongate.payload import JsonObject, dumps

_HEADER: Final = ("| setting | what it may be | default | what it is for |", "|---|---|---|---|")


def schema() -> JsonObject:
    """One provider, a list of them, or the whole object."""
    whole, one = Table(Settings).schema(), Table(Provider).schema()
    for each in (whole, one):
        each["properties"][SCHEMA_KEY] = {"type": "string", "description": "for editors; means nothing here"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "moongate configuration",
        "anyOf": [whole, one, ListOf(Table(Provider), min_items=1).schema()],
    }


def json_schema() -> str:
    """The schema as `check --schema` prints it."""
    return indented(schema()) + "\n"


def shipped_schema() -> str:
    """The schema as the text of the file that is shipped, for programs: small, because a wheel has little room."""
    return dumps(schema()).decode() + "\n"


def indented(value: object, depth: int = 0) -> str:
    """Readable JSON: two spaces per level, short lists on one line."""
    pad, end = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        rows = [f"{pad}{dumps(key).decode()}: {indented(each, depth + 1)}" for key, each in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{end}}}"
    if isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        return "[\n" + ",\n".join(f"{pad}{indented(each, depth + 1)}" for each in value) + f"\n{end}]"
    return dumps(value).decode()


def tables() -> str:
    """The reference part of docs/configuration.md."""
    parts = []
    for row in TABLES:
        summary = (row.__doc__ or "").strip()
        rows = [_row(each) for each in settings_of(row)]
        parts.append("\n".join([f"### {row.__name__}\n", summary, "", *_HEADER, *rows]))
    return "\n\n".join(parts) + "\n"


def _row(each: Field[Any]) -> str:
    default = each.metadata["default"]
    if default is REQUIRED:
        shown = "**required**"
    elif isinstance(default, str | int | float | bool):
        shown = f"`{dumps(default).decode()}`" if default != "" else "–"
    else:
        shown = "–"
    description = each.metadata["shape"].describe().replace("|", "\\|")
    return f"| `{each.name}` | {description} | {shown} | {each.metadata['description']} |"
