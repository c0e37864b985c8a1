"""Reports the branches that a run covered to libFuzzer, at a fraction of the usual cost.

atheris calls into C++ at every branch, which costs more than the code between two branches. Here the branches are
collected in a list, and reported at the end of every run that covered a new branch and of one in eight of the others:
once, twice or three times, depending on whether a branch was taken once, a few times or often.
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
    """Modules of moongate that are imported inside this context report their branches.

    Comparisons are not traced: the bytes of an input encode tokens and choices, which libFuzzer cannot guess from the
    values that the code compares.
    """
    hooks = importlib.import_module("atheris.import_hook")  # atheris has no types
    manager: AbstractContextManager[Any] = hooks.HookManager({"moongate"}, set(), True, trace_dataflow=False)
    return manager


def guided(target: Target) -> Target:
    """The target, for `atheris.Setup`."""
    atheris: Any = importlib.import_module("atheris")
    taken: list[int] = []
    known: set[int] = set()
    runs = 0
    report: Callable[[int], None] | None = None

    def run(data: bytes) -> None:
        nonlocal runs, report
        if report is None:  # libFuzzer's own is only there once it runs
            report, atheris._trace_branch = atheris._trace_branch, taken.append
        taken.clear()
        target(data)
        assert taken, "nothing is instrumented"
        runs += 1
        if runs % ONE_IN == 0 or not known.issuperset(taken):
            known.update(taken)
            for branch, times in Counter(taken).items():
                for _ in range(1 + (times > 1) + (times >= OFTEN)):
                    report(branch)

    return run
