"""Tool-call ids that Anthropic's clients accept: `[A-Za-z0-9_-]`, 64 characters at most.

`functions.Bash:0` is shown as `functions--Bash--0`, any other id that is not safe with its unsafe bytes in hex
(`Bash:0` as `x--Bash-3a0`), and both are read back as they were, from the text alone: what the transformers see of a
conversation is what the provider said, so that they find a repeated id. Only an id that is too long for that is shown
as a digest of itself.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

LONGEST: Final = 64

_SAFE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_NUMBERED: Final = re.compile(r"([A-Za-z0-9_-]+?)\.([A-Za-z0-9_-]+):([0-9]{1,9})", re.ASCII)
_SHOWN: Final = re.compile(r"([A-Za-z0-9_-]+?)--([A-Za-z0-9_-]+)--([0-9]{1,9})", re.ASCII)
_MARK: Final = "x--"
_ESCAPED: Final = re.compile(rb"[^A-Za-z0-9_]")
_HEX: Final = re.compile(rb"-([0-9a-f]{2})")
DIGEST: Final = "toolu_"


def shown_id(given: str) -> str:
    """The safe form of a provider's id. No two ids are shown alike."""
    found = _NUMBERED.fullmatch(given)
    shown = "--".join(found.groups()) if found else given
    if _SAFE.fullmatch(shown) and given_id(shown) == given:
        return shown
    shown = _escaped(given)
    if len(shown) <= LONGEST:
        return shown
    return DIGEST + blake2b(given.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def given_id(shown: str) -> str:
    """The provider's id behind a safe form; an id that is not one of ours stays as it is."""
    if len(shown) > LONGEST:
        return shown
    if shown.startswith(_MARK):
        return _unescaped(shown)
    found = _SHOWN.fullmatch(shown)
    return "{}.{}:{}".format(*found.groups()) if found else shown


def _escaped(given: str) -> str:
    data = given.encode("utf-8", "surrogatepass")
    return _MARK + _ESCAPED.sub(lambda found: b"-%02x" % ord(found[0]), data).decode("ascii")


def _unescaped(shown: str) -> str:
    data = _HEX.sub(
        lambda found: bytes.fromhex(found[1].decode("ascii")),
        shown.removeprefix(_MARK).encode("utf-8", "surrogatepass"),
    )
    try:
        given = data.decode("utf-8", "surrogatepass")
    except ValueError:
        return shown
    return given if _escaped(given) == shown else shown
