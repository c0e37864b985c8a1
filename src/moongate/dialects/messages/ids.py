"""Tool-call ids that Anthropic's clients accept: `[A-Za-z0-9_-]`, 64 characters at most.

`functions.Bash:0` is shown as `functions--Bash--0` and read back as it was, from the text alone. Any other id that
is not safe is shown as a digest of itself; its calls and results still pair, and the request history gets its
canonical ids from the names and positions of the calls. No two ids of an answer are shown alike.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

_SAFE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_NUMBERED: Final = re.compile(r"([A-Za-z0-9_-]+?)\.([A-Za-z0-9_-]+):([0-9]{1,9})", re.ASCII)
_SHOWN: Final = re.compile(r"([A-Za-z0-9_-]+?)--([A-Za-z0-9_-]+)--([0-9]{1,9})", re.ASCII)


def shown_id(given: str) -> str:
    """The safe form of a provider's id."""
    if found := _NUMBERED.fullmatch(given):
        shown = "--".join(found.groups())
        if len(shown) <= 64 and given_id(shown) == given:
            return shown
    elif _SAFE.fullmatch(given) and given_id(given) == given:
        return given
    return "toolu_" + blake2b(given.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def given_id(shown: str) -> str:
    """The provider's id behind a safe form; an id that is not one of ours stays as it is."""
    found = _SHOWN.fullmatch(shown)
    return "{}.{}:{}".format(*found.groups()) if found else shown
