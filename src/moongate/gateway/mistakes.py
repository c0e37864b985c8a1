"""Exceptions that nobody expected, told to the operator in one line: never a stack trace, never a secret.

The text of such an exception may hold anything (a transformer of one's own may raise what it was given), so it is
only told where the secrets are known and taken out; elsewhere the kind and the place must do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

MAX_TEXT: Final = 1000


def place_of(error: BaseException) -> str:
    """Where it was raised: `file:line`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "?"


def kind_and_place(error: BaseException) -> str:
    return f"{type(error).__name__} at {place_of(error)}"


def told(error: BaseException, clean: Callable[[str], str]) -> str:
    """Kind, place and text. `clean` takes the secrets out."""
    try:
        text = str(error)
    except Exception:  # a stranger's exception: it may be broken itself
        return kind_and_place(error)
    # The secrets first: what follows might make one unrecognisable.
    words = " ".join(clean(text).split())
    shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in words[:MAX_TEXT])
    return f"{kind_and_place(error)}: {shown}" if shown else kind_and_place(error)
