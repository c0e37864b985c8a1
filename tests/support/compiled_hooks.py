"""`pytest --compiled`: the tests of what `make compiled` makes machine code of, over the machine code.

Left out are tests of other things, and those that can only be run over Python: they put something in the place of an
internal (seen when they do it) or bring classes derived from ours (marked).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import moongate.payload

COMPILED = not str(moongate.payload.__file__).endswith(".py")
TESTS = Path(__file__).parent.parent
OTHER = {
    *("agents", "cli", "fuzz", "sim", "soak", "support"),
    *("test_architecture.py", "test_deploy.py", "test_docs.py", "test_examples.py", "test_linear.py"),
    *("test_speed.py", "test_supply_chain.py"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--compiled", action="store_true", help="run what concerns the compiled modules, over them")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--compiled") and not COMPILED:
        raise pytest.UsageError("--compiled: moongate is not compiled here (make tests-compiled)")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    chosen = config.getoption("--compiled") and collection_path.parent == TESTS and collection_path.name in OTHER
    return True if chosen else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        mark = item.get_closest_marker("interpreted")
        if COMPILED and mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"over Python only: it {mark.args[0]}"))


class Careful(pytest.MonkeyPatch):  # type: ignore[misc]
    """Compiled code does not see what is put in the place of a function or a constant: such a test says nothing."""

    def setattr(self, target: Any, *args: Any, **named: Any) -> None:
        if isinstance(target, str):
            owner: object = _module_of(target)
        else:
            owner = target if isinstance(target, ModuleType) else importlib.import_module(_home_of(target))
        if isinstance(owner, ModuleType) and _is_compiled(owner):
            pytest.skip("over Python only: it puts something in the place of an internal")
        super().setattr(target, *args, **named)


def _home_of(target: object) -> str:
    return getattr(target, "__module__", None) or type(target).__module__


def _module_of(path: str) -> ModuleType | None:
    while "." in path:
        path = path.rpartition(".")[0]
        try:
            return importlib.import_module(path)
        except ImportError:
            continue
    return None


def _is_compiled(module: ModuleType) -> bool:
    return module.__name__.startswith("moongate.") and str(module.__file__).endswith(".so")


@pytest.fixture
def monkeypatch() -> Iterator[pytest.MonkeyPatch]:
    patch = Careful() if COMPILED else pytest.MonkeyPatch()
    yield patch
    patch.undo()
