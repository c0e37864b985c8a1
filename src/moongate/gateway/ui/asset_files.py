"""The files of the pages: style, scripts and icon, read from the package once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from moongate.errors import NotFound
from moongate.gateway.ui.request import UiResponse

TYPES: Final = {
    "css": b"text/css; charset=utf-8",
    "js": b"text/javascript; charset=utf-8",
    "svg": b"image/svg+xml",
}
NAMES: Final = ("style.css", "icon.svg", "requests.js", "exchange.js", "page.js")


@cache
def _read(name: str) -> bytes:
    return files("moongate.gateway.ui").joinpath("assets", name).read_bytes()


def asset(name: str) -> UiResponse:
    """Raises NotFound."""
    if name not in NAMES:
        raise NotFound("There is no such file", code="no_such_path")
    return UiResponse(200, [(b"content-type", TYPES[name.rpartition(".")[2]])], _read(name))
