"""Tests of the core run where only orjson and pytest are installed (`make test-core`).

A test file that needs another package has a name by which `EXTRA` (`tests/support/requirement_hooks.py`) recognises it,
so it is not collected there. Modules that a test file imports count as well.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from tests.support.requirement_hooks import EXTRA, extra_package

ROOT = Path(__file__).parent.parent
FOLDERS = {"tests": ROOT, "moongate": ROOT / "src"}
INSTALLED = {"pytest", "orjson"}  # requirements/core.in


def core_tests() -> list[Path]:
    """The files that `make test-core` collects."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (names,) = re.findall(r"^CORE_TESTS := \$\(addprefix tests/,(.+)\)$", makefile, re.MULTILINE)
    places = [ROOT / "tests" / name for name in names.split()]
    files = [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("test_*.py")))]
    return [*files, *sorted((ROOT / "tests").glob("test_vectors_*.py"))]


def imports_of(tree: ast.Module) -> set[str]:
    """The full names of what a module imports, wherever it does; for `from a import b` both `a` and `a.b`."""
    for_types = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    left_out = {id(each) for guard in for_types for node in guard.body for each in ast.walk(node)}
    found: set[str] = set()
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def file_of(name: str) -> Path | None:
    """The file of one of our own modules."""
    place = FOLDERS[name.partition(".")[0]].joinpath(*name.split("."))
    return next((file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()), None)


@cache
def direct(file: Path) -> tuple[frozenset[str], frozenset[Path]]:
    """The packages of others and the files of our own that a file imports."""
    names = imports_of(ast.parse(file.read_text(encoding="utf-8")))
    own = {name for name in names if name.partition(".")[0] in FOLDERS}
    packages = {name.partition(".")[0] for name in names - own} - sys.stdlib_module_names
    files = {found for name in own if (found := file_of(name)) is not None}
    return frozenset(packages), frozenset(files)


def needed(file: Path) -> set[str]:
    """The packages without which a test file cannot be imported or run."""
    packages: set[str] = set()
    known, open_files = {file}, [file]
    while open_files:
        found, files = direct(open_files.pop())
        packages |= found
        open_files += files - known
        known |= files
    return packages - INSTALLED


def test_a_core_test_that_needs_more_than_pytest_has_a_name_that_says_so() -> None:
    needs = {file: packages for file in core_tests() if (packages := needed(file))}
    wrong = {str(file): packages for file, packages in needs.items() if extra_package(file) not in packages}
    assert wrong == {}, "name it as EXTRA wants, or split it"


def test_the_check_sees_packages_behind_a_module_of_ours() -> None:
    properties = ROOT / "tests" / "kimi" / "schema" / "test_normalise_properties.py"
    assert "hypothesis" in needed(properties)
    assert needed(ROOT / "tests" / "kimi" / "test_ids.py") == set()
    assert {package for file in core_tests() for package in needed(file)} >= set(EXTRA)


def test_what_make_test_runs_once_is_run_in_one_of_the_two_environments() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "$(PYTEST) $(addprefix --beyond-core=,$(CORE_TESTS) $(VECTORS))" in makefile
    assert "-m pytest $(IN_CACHE) $(CORE_TESTS) $(VECTORS)" in makefile


@pytest.mark.parametrize(
    ("options", "ran"),
    [
        ([], {"core/test_a.py", "core/test_a_properties.py", "test_b.py"}),
        (["--beyond-core=core"], {"core/test_a_properties.py", "test_b.py"}),
        (["--beyond-core=core", "--beyond-core=test_b.py"], {"core/test_a_properties.py"}),
    ],
)
def test_beyond_the_core_are_the_tests_that_it_cannot_run(tmp_path: Path, options: list[str], ran: set[str]) -> None:
    (tmp_path / "core").mkdir()
    for name in ("core/test_a.py", "core/test_a_properties.py", "test_b.py"):
        (tmp_path / name).write_text("def test_it():\n    pass\n")
    plugins = ("tests.support.compiled_hooks", "tests.support.requirement_hooks")
    fixed = ["-v", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-c", "/dev/null"]
    command = [sys.executable, "-m", "pytest", *fixed, *(f"-p{each}" for each in plugins), *options, str(tmp_path)]
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(re.findall(r"((?:core/)?test_\w+\.py)::test_it PASSED", done.stdout)) == ran
