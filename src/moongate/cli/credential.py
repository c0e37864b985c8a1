"""How to refer to the client key in output: a shell expression that yields it, never the key itself."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate.errors import ConfigError
from moongate.gateway.config.load import Config
from moongate.gateway.config.places import suggest
from moongate.gateway.http.client_key import FILE

PLACEHOLDER: Final = "YOUR_CLIENT_KEY"
NO_KEY: Final = "none"  # clients insist on a text even where no key is needed
_VARIABLE: Final = re.compile(r"\$\{?(\w+)\}?")


@dataclass(frozen=True, slots=True)
class Credential:
    """`shell` yields the key inside double quotes in a shell; `where` says where the key is kept."""

    shell: str
    where: str
    plain: str = PLACEHOLDER  # for files, in which no shell replaces anything


def client_credential(config: Config | None, home: Path, client: str | None = None) -> Credential:
    """The client key named `client`, else the first configured one, else the one that the gateway keeps in `home`.

    Raises ConfigError if no key has that name.
    """
    if config is not None and config.client_keys is None:
        return Credential(NO_KEY, "none needed", NO_KEY)
    if config is None or not config.client_keys:
        if client is not None:
            raise ConfigError(
                f"no client key is named {client!r}: the configuration has no 'api_keys'", path="--client"
            )
        path = home / FILE
        later = "" if path.exists() else ", made when the gateway first starts"
        return Credential(_content_of(path), f"in {path}{later}")
    number = client_number(config, client)
    which = f"the first of 'api_keys' in {config.file}" if client is None else f"api_keys {client!r} in {config.file}"
    given = config.settings.api_keys[number].key
    return _reference(given, which, (config.file or Path()).parent)


def given_credential(given: str) -> Credential:
    """A key that was given on the command line: as `$VARIABLE`, as `file:PATH`, or itself."""
    return _reference(given, "given with --key", Path())


def given_key(given: str, environ: Mapping[str, str]) -> str:
    """The text of such a key. Raises ConfigError, which does not hold the text."""
    found = given
    if variable := _VARIABLE.fullmatch(given):
        found = environ.get(variable[1], "").strip()
        if not found:
            raise ConfigError(f"the environment variable {variable[1]!r} is not set", path="--key")
    elif given.startswith("file:"):
        try:
            found = Path(given.removeprefix("file:")).expanduser().read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise ConfigError(f"{given.removeprefix('file:')} cannot be read", path="--key") from None
    return found


def _reference(given: str, which: str, folder: Path) -> Credential:
    """How to refer to a key that a configuration or the command line gives as `given`."""
    if variable := _VARIABLE.fullmatch(given):
        return Credential(f"${variable[1]}", f"in ${variable[1]}, {which}")
    if given.startswith("file:"):
        path = folder / Path(given.removeprefix("file:")).expanduser()
        return Credential(_content_of(path), f"in {path}, {which}")
    return Credential(PLACEHOLDER, which)


def client_number(config: Config, client: str | None) -> int:
    """The place of a client's key among those of the configuration. Raises ConfigError."""
    names = [each.name for each in config.settings.api_keys]
    if client is None:
        return 0
    if client not in names:
        known = [name for name in names if name]
        message = f"no client key is named {client!r}{suggest(client, known) or '; none of them has a name'}"
        raise ConfigError(message, path="--client")
    return names.index(client)


def _content_of(path: Path) -> str:
    return f"$(cat {shlex.quote(str(path.absolute()))})"
