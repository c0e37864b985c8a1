"""The paths of the front doors; each also without `/v1`, for clients whose base URL lacks it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moongate.chat.contracts import Dialect
from moongate.dialects import DIALECTS

FRONTS: Final[Mapping[str, Dialect]] = {
    **DIALECTS,
    **{path.removeprefix("/v1"): dialect for path, dialect in DIALECTS.items()},
}
