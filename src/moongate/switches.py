"""Switches that are read from the environment once, when the process starts.

`MOONGATE_FAST=0` turns off everything that exists only for speed: `FastSession`, the chunk forwarder, remembered
request heads and tools, the readers of whole runs of calls and the eager task. What is left is the plain code: same
results.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final


def fast_enabled(environ: Mapping[str, str]) -> bool:
    """Is the fast path on? Only `MOONGATE_FAST=0` turns it off.

    >>> fast_enabled({}), fast_enabled({"MOONGATE_FAST": "0"})
    (True, False)
    """
    return environ.get("MOONGATE_FAST", "1").strip() != "0"


FAST: Final = fast_enabled(os.environ)
