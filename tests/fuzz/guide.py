"""Tells libFuzzer which places of moongate a run went through, at a fraction of the usual price.

atheris calls into C++ at every place that is passed, which costs more than the code between two places. Here a place is
put on a list, and libFuzzer is told at the end of the run, of every run that passed a new place and of one in eight of
the others: once, twice or three times, as a place was passed once, a few times or often.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

Target = Callable[[bytes], None]

OFTEN: Final = 8
ONE_IN: Final = 8


def instrumented() -> AbstractContextManager[Any]:
    """What is imported of moongate meanwhile tells its places.

    Comparisons are not traced: the bytes of an input stand for scraps and choices, which libFuzzer cannot guess from
    what the code compares.
    """
    hooks = importlib.import_module("atheris.import_hook")  # atheris has no types
    manager: AbstractContextManager[Any] = hooks.HookManager({"moongate"}, set(), True, trace_dataflow=False)
    return manager


def guided(target: Target) -> Target:
    """The target, for `atheris.Setup`."""
    atheris: Any = importlib.import_module("atheris")
    passed: list[int] = []
    known: set[int] = set()
    runs = 0
    tell: Callable[[int], None] | None = None

    def run(data: bytes) -> None:
        nonlocal runs, tell
        if tell is None:  # libFuzzer's own is only there once it runs
            tell, atheris._trace_branch = atheris._trace_branch, passed.append
        passed.clear()
        target(data)
        assert passed, "nothing is instrumented"
        runs += 1
        if runs % ONE_IN == 0 or not known.issuperset(passed):
            known.update(passed)
            for place, times in Counter(passed).items():
                for _ in range(1 + (times > 1) + (times >= OFTEN)):
                    tell(place)

    return run
