"""Every regular expression of src that reads what a client or a provider sent is linear in the size of its input.

The uses of `re` are collected from the source. One that reads foreign text must be named in `FOREIGN` with the function
that applies it, and is fed texts that make backtracking expensive, at two sizes; any other one in `OPERATOR`.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.regexes import ENDS, FOREIGN, OPERATOR, PUMPS, Run

SRC = Path(__file__).parent.parent / "src" / "moongate"
SMALL, TIMES = 2048, 16
GOAL = 64  # a linear pattern takes 16 times as long, a quadratic one 256 times
LEAST = 0.0005  # seconds: what is quicker than this is measured as this
APART = ("sim", "cli")  # run by hand, on one's own machine
_METHODS = frozenset({"compile", "sub", "subn", "match", "search", "fullmatch", "findall", "finditer", "split"})


def _uses(node: ast.AST, owner: str) -> Iterator[str]:
    """Where `re` is used below a node: the module's name that holds the pattern, or the function."""
    for child in ast.iter_child_nodes(node):
        name = owner
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{owner}.{child.name}" if owner else child.name
        elif not owner and isinstance(child, ast.AnnAssign):
            name = ast.unparse(child.target)
        elif not owner and isinstance(child, ast.Assign):
            name = ast.unparse(child.targets[0])
        if isinstance(child, ast.Attribute) and ast.unparse(child.value) == "re" and child.attr in _METHODS:
            yield name
        yield from _uses(child, name)


def test_every_regular_expression_is_registered() -> None:
    found = set()
    for path in SRC.rglob("*.py"):
        module = path.relative_to(SRC).with_suffix("").as_posix()
        if module.split("/")[0] not in APART:
            found |= {f"{module}:{name}" for name in _uses(ast.parse(path.read_text(encoding="utf-8")), "")}
    assert found == FOREIGN.keys() | OPERATOR


def _seconds(run: Run, text: str, rounds: int) -> float:
    best = 1e9
    for _ in range(rounds):
        start = time.thread_time()
        run(text)
        best = min(best, time.thread_time() - start)
    return max(best, LEAST)


@pytest.mark.parametrize("name", FOREIGN)
def test_cost_grows_as_the_text_does(name: str) -> None:
    run = FOREIGN[name]
    for pump in PUMPS:
        for end in ENDS:
            small, large = (pump * (size // len(pump)) + end for size in (SMALL, SMALL * TIMES))
            if _seconds(run, large, 1) > LEAST * TIMES:  # else it is linear, or quick enough
                ratio = _seconds(run, large, 3) / _seconds(run, small, 3)
                assert ratio < GOAL, (name, pump, end)


def test_a_quadratic_pattern_is_found() -> None:
    old_tag = re.compile(r"<[^>]*>")
    small, large = "<" * SMALL, "<" * SMALL * TIMES
    sub: Run = lambda text: old_tag.sub("", text)  # noqa: E731
    assert _seconds(sub, large, 1) / _seconds(sub, small, 3) > GOAL
