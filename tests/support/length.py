"""How long tests run, chosen by `TEST_LENGTH`.

- `short`, the default: the tests of `make test`.
- `full`: `make test-all` and the targets that it runs.
- `brief`: the tests of `make test` that run again over another build or in another environment. They leave out what
  would only repeat itself, such as every cut of a stream.
"""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")

FULL = os.environ.get("TEST_LENGTH") == "full"
BRIEF = os.environ.get("TEST_LENGTH") == "brief"


def by_length(short: T, full: T) -> T:
    return full if FULL else short


def examples(full: int) -> int:
    """How many examples Hypothesis tries."""
    return full if FULL else max(20, full // (10 if BRIEF else 5))
