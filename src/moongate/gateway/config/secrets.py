"""Where a secret comes from: the text itself, `$VAR`, `${VAR}` or `file:PATH`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from moongate.gateway.config.shapes import Place, nearest

_VARIABLE: Final = re.compile(r"\$(?:\{([^}]*)\}|(\w+))")
_SECRET_FIELDS: Final = frozenset({"api_key", "api_keys", "key", "headers"})
_WIRE: Final = re.compile(r"[\x21-\x7e]+")


def resolve_secret(given: str, at: Place, environment: Mapping[str, str], folder: Path) -> str:
    """The secret that `given` stands for. An error names the variable or the file, never a value."""
    found = given
    if given.startswith("file:"):
        found = _from_file(given.removeprefix("file:"), at, folder)
    elif match := _VARIABLE.fullmatch(given):
        name = match[1] or match[2] or ""
        found = (environment.get(name) or "").strip()
        if not found and name in environment:
            raise at.error(f"the environment variable {name!r} is set, but empty")
        if not found:
            others = [each for each in environment if each.upper() == name.upper()]
            raise at.error(f"the environment variable {name!r} is not set{nearest(name, others)}")
    if not _WIRE.fullmatch(found):
        raise at.error("a key must be made of visible ASCII characters, without blanks")
    return found


def _from_file(name: str, at: Place, folder: Path) -> str:
    path = folder / Path(name).expanduser()
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise at.error(f"the key file {name!r} cannot be read: {reason}") from None


def named_secrets(value: Any, environment: Mapping[str, str], folder: Path) -> set[str]:
    """Every secret that a document names, whether the rest of it is right or wrong."""
    found = set()
    for given in _given(value, secret=False):
        if match := _VARIABLE.fullmatch(given):
            found.add(environment.get(match[1] or match[2] or "", "").strip())
        elif given.startswith("file:"):
            with suppress(OSError, ValueError):
                found.add((folder / Path(given.removeprefix("file:")).expanduser()).read_text(encoding="utf-8").strip())
        else:
            found.add(given)
    return found


def _given(value: Any, *, secret: bool) -> Iterator[str]:
    if isinstance(value, str) and secret:
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _given(each, secret=secret)
    elif isinstance(value, dict):
        for name, each in value.items():
            # A key with a name and limits of its own is an object.
            yield from _given(each, secret=name in _SECRET_FIELDS or (secret and "key" not in value))
