"""Which front (API dialect) a request belongs to. The rows themselves are in `moongate.dialects`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moongate.chat.contracts import Dialect
from moongate.dialects.fronts import FRONTS, Front

DEFAULT_FRONT: Final = FRONTS[0]
# Each path also without `/v1`, for clients whose base URL lacks it.
DIALECT_BY_PATH: Final[Mapping[str, Dialect]] = {
    **{front.path: front.dialect for front in FRONTS},
    **{front.path.removeprefix("/v1"): front.dialect for front in FRONTS},
}


def front_of(path: str, headers: Mapping[bytes, bytes]) -> Front:
    """The front in whose form a page or an error is sent, by the client's headers, else by the path."""
    for front in FRONTS:
        if front.client_header and front.client_header in headers:
            return front
    for front in FRONTS:
        if path.startswith(front.path):
            return front
    return DEFAULT_FRONT
