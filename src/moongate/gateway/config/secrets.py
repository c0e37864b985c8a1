"""Secrets in the configuration: the text itself, `$VAR`, `${VAR}` or `file:PATH`."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from moongate.gateway.config.places import ConfigPlace, suggest

# A pipe must not block the start. Windows has neither such files nor the flag, but a mode that changes line ends.
FLAGS: Final[int] = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
MAX_FILE_SIZE: Final = 64 << 10  # bytes of a key file
_VARIABLE: Final = re.compile(r"\$(?:\{([^}]*)\}|(\w+))")
_SECRET_FIELDS: Final = frozenset({"api_key", "api_keys", "key", "headers"})
_VISIBLE_ASCII: Final = re.compile(r"[\x21-\x7e]+")


def resolve_secret(given: str, at: ConfigPlace, environment: Mapping[str, str], folder: Path) -> str:
    """The secret that `given` stands for. Errors name the variable or the file, never a value."""
    found = given
    if given.startswith("file:"):
        found = _read_file(given.removeprefix("file:"), at, folder)
    elif match := _VARIABLE.fullmatch(given):
        name = match[1] or match[2] or ""
        found = (environment.get(name) or "").strip()
        if not found and name in environment:
            raise at.error(f"the environment variable {name!r} is set, but empty")
        if not found:
            others = [each for each in environment if each.upper() == name.upper()]
            raise at.error(f"the environment variable {name!r} is not set{suggest(name, others)}")
    if not _VISIBLE_ASCII.fullmatch(found):
        raise at.error("a key must be made of visible ASCII characters, without blanks")
    return found


def _read_file(name: str, at: ConfigPlace, folder: Path) -> str:
    try:
        return _file_text(name, folder)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        reason = "it is not text" if isinstance(error, UnicodeDecodeError) else reason
        raise at.error(f"the key file {name!r} cannot be read: {reason}") from None


def _file_text(name: str, folder: Path) -> str:
    """A regular file's text: a pipe or a device could block the start, or never end. Raises OSError, ValueError."""
    descriptor = os.open(folder / Path(name).expanduser(), os.O_RDONLY | FLAGS)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        data = os.read(descriptor, MAX_FILE_SIZE + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAX_FILE_SIZE:
        raise ValueError(f"it is larger than {MAX_FILE_SIZE >> 10} KiB")
    return data.decode("utf-8").strip()


def named_secrets(value: object, environment: Mapping[str, str], folder: Path) -> set[str]:
    """Every secret in a document, also if the document has errors elsewhere: error messages are redacted with them."""
    found = set()
    for given in _secret_texts(value, secret=False):
        if match := _VARIABLE.fullmatch(given):
            found.add(environment.get(match[1] or match[2] or "", "").strip())
        elif given.startswith("file:"):
            with suppress(OSError, ValueError):
                found.add(_file_text(given.removeprefix("file:"), folder))
        else:
            found.add(given)
    return found


def _secret_texts(value: object, *, secret: bool) -> Iterator[str]:
    if isinstance(value, str) and secret:
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _secret_texts(each, secret=secret)
    elif isinstance(value, dict):
        for name, each in value.items():
            # A key with a name and limits is an object, of which only "key" is a secret.
            yield from _secret_texts(each, secret=name in _SECRET_FIELDS or (secret and "key" not in value))
