"""`pytest --compiled`: runs the tests of the modules that `make compiled` compiles with the compiled modules.

Skipped are tests of other modules, and tests that work only with interpreted modules: they patch an internal (detected
when they do it) or define subclasses of ours (marked `interpreted`). `TEST_LENGTH=brief` also skips repetitions: the
test files of modules that are not compiled, property tests, faults, and tests that use SDKs or whole processes from
outside run interpreted in `make test`, and with compiled modules in `make test-all`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.support.length import BRIEF

import moongate.payload

COMPILED = not str(moongate.payload.__file__).endswith(".py")
TESTS = Path(__file__).parent.parent
ONLY_INTERPRETED = "interpreted modules only"
ONLY_COMPILED = "test_machine_code.py"
SOURCE = Path(str(moongate.payload.__file__)).parent
OTHER = {  # folders of tests whose folder of modules has none that is compiled are found without being named
    *(
        "agents",
        "fuzz",
        "soak",
        "support",
        "test_architecture.py",
        "test_bench_figures.py",
        "test_bench_turns.py",
        "test_core_requirements.py",
        "test_deploy.py",
        "test_docs.py",
        "test_examples.py",
    ),
    *("test_linear.py", "test_map.py", "test_monitoring.py", "test_package.py", "test_routing_page.py"),
    *("test_speed.py", "test_suite.py", "test_supply_chain.py", "test_yardstick.py"),
}
SAME_AGAIN = {
    *("properties", "faults", "test_canary.py", "gateway/test_sdk_loops.py", "gateway/test_tool_loops.py"),
    *("gateway/test_amplification.py", "browser", "contract", "fleet", "test_regexes.py"),
    *("test_deploy_fleet.py", "test_doc_blocks.py", "test_route_simulation.py", "test_write_a_transformer.py"),
}

OF_COMPILED = {"wire/test_threads.py"}  # about what compiled modules do, though their own module is not compiled


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--compiled", action="store_true", help="run the tests of the compiled modules")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--compiled") and not COMPILED:
        raise pytest.UsageError("--compiled: moongate is not compiled here (make tests-compiled)")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not collection_path.is_relative_to(TESTS):
        return None
    name = collection_path.relative_to(TESTS).as_posix()
    if not config.getoption("--compiled"):
        return True if name == ONLY_COMPILED else None
    modules = SOURCE / name
    if modules.is_dir() and not any(modules.rglob("*.so")):
        return True
    return True if name in OTHER or (BRIEF and _is_same_again(name)) else None


def _is_same_again(name: str) -> bool:
    repeats = name in SAME_AGAIN or name.endswith(("_properties.py", "_sdk.py"))
    return repeats or (_module_is_interpreted(name) and name not in OF_COMPILED)


def _module_is_interpreted(name: str) -> bool:
    """There is a module of the test file's name, and it is not compiled."""
    folder, _, file = name.rpartition("/")
    module = SOURCE / folder / file.removeprefix("test_")
    return file.startswith("test_") and module.is_file() and not any(module.parent.glob(f"{module.stem}.*.so"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        mark = item.get_closest_marker("interpreted")
        if COMPILED and mark is not None:
            item.add_marker(pytest.mark.skip(reason=f"{ONLY_INTERPRETED}: it {mark.args[0]}"))


class SkippingMonkeyPatch(pytest.MonkeyPatch):  # type: ignore[misc]
    """Skips a test that patches a compiled module: compiled code ignores patched functions and constants."""

    def setattr(self, target: Any, *args: Any, **named: Any) -> None:
        if isinstance(target, str):
            owner: object = _module_of(target)
        else:
            owner = target if isinstance(target, ModuleType) else importlib.import_module(_home_of(target))
        if isinstance(owner, ModuleType) and _is_compiled(owner):
            pytest.skip(f"{ONLY_INTERPRETED}: it patches an internal")
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
    patch = SkippingMonkeyPatch() if COMPILED else pytest.MonkeyPatch()
    yield patch
    patch.undo()
