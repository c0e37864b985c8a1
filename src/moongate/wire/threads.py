"""Lets other threads run. Pure.

The interpreter switches threads between its own instructions, and machine code has none: a compiled loop keeps all
other threads waiting until it ends, the one with the event loop too. So loops over a whole request or a whole answer
call this now and then.
"""

from __future__ import annotations

from typing import Any, Final

EVERY: Final = 1024  # iterations of a loop; at `not count % EVERY` it calls `let_threads_run`


def free_in_pieces(items: list[Any]) -> None:
    """Empty a list. The memory of many objects is freed at once otherwise, while no other thread runs."""
    while items:
        del items[-EVERY:]
        let_threads_run()


def let_threads_run() -> None:
    """Does nothing, but is never compiled (setup.py): the interpreter may switch threads when it is called."""
