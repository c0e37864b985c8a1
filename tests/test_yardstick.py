"""The figures of `tests/yardstick.py` count what they say."""

from __future__ import annotations

import ast

import pytest
from tests.yardstick import (
    Figure,
    broad_excepts,
    compares_both_ends,
    functions,
    imports_name,
    length,
    patched_tests,
)

PYTHON = """
def short(): pass

async def longer(monkeypatch):
    def inner():
        try: pass
        except (ValueError, Exception): pass
    try: pass
    except ValueError: pass

def test_a(monkeypatch): pass
def test_b(tmp_path): pass
"""


def test_functions_are_measured_from_def_to_end() -> None:
    assert [
        (each.name, length(each)) for each in functions(ast.parse(PYTHON)) if not each.name.startswith("test_")
    ] == [
        ("short", 1),
        ("longer", 6),
        ("inner", 3),
    ]


@pytest.mark.parametrize(
    ("handler", "broad"), [("", 1), (" Exception", 1), (" BaseException as e", 1), (" OSError", 0)]
)
def test_handlers_that_catch_everything_are_counted(handler: str, broad: int) -> None:
    assert broad_excepts(ast.parse(f"try: pass\nexcept{handler}: pass")) == broad
    assert broad_excepts(ast.parse(PYTHON)) == 1


def test_tests_that_patch_are_counted() -> None:
    assert patched_tests(ast.parse(PYTHON)) == (1, 2)


def test_tests_of_both_ends_of_the_same_bytes_are_found() -> None:
    tree = ast.parse("""
def both(data, head): return data.startswith(head) and data.endswith(b"}")
def one(data, head): return data.startswith(head) and head.endswith(b"{")
""")
    assert compares_both_ends(tree) == ["both"]


def test_an_imported_name_is_found() -> None:
    tree = ast.parse("import a\nfrom b import c as d")
    assert imports_name(tree, "c")
    assert not imports_name(tree, "d")


def test_a_figure_above_its_limit_is_marked() -> None:
    assert Figure("lines", 3, 2).line().endswith("EXCEEDED")
    assert "EXCEEDED" not in Figure("lines", 2, 2).line()
