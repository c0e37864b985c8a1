"""The client key as a person needs it: something to paste, never the key itself."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate.gateway.client_key import FILE, home
from moongate.gateway.config.load import Config

PLACEHOLDER: Final = "YOUR_CLIENT_KEY"
NO_KEY: Final = "none"  # clients want some text even where none is needed
_VARIABLE: Final = re.compile(r"\$\{?(\w+)\}?")


@dataclass(frozen=True, slots=True)
class Credential:
    """`shell` gives the key between double quotes in a shell; `where` tells a person where it is."""

    shell: str
    where: str
    plain: str = PLACEHOLDER  # where no shell helps


def client_credential(config: Config | None) -> Credential:
    """Of the first client key; without a configuration, of this machine's own."""
    if config is not None and config.client_keys is None:
        return Credential(NO_KEY, "none needed", NO_KEY)
    if config is None or not config.client_keys:
        path = home() / FILE
        later = "" if path.exists() else ", made when the gateway first starts"
        return Credential(_content_of(path), f"in {path}{later}")
    first = f"the first of 'api_keys' in {config.file}"
    given = config.settings.api_keys[0].key
    if variable := _VARIABLE.fullmatch(given):
        return Credential(f"${variable[1]}", f"in ${variable[1]}, {first}")
    if given.startswith("file:"):
        path = (config.file or Path()).parent / Path(given.removeprefix("file:")).expanduser()
        return Credential(_content_of(path), f"in {path}, {first}")
    return Credential(PLACEHOLDER, first)


def _content_of(path: Path) -> str:
    return f"$(cat {shlex.quote(str(path.absolute()))})"
