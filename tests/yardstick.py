"""`python -m tests.yardstick`: figures of the source that should not grow, each with its limit; 1 if one is exceeded.

`--chunk` prints the folders whose code runs for one text chunk (with `MOONGATE_FAST=0`: without the fast path).
"""

from __future__ import annotations

import ast
import asyncio
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "moongate"
TESTS = ROOT / "tests"
CORE = ("wire", "chat", "kimi", "pipeline", "dialects", "fast", "transformers")
BROAD = {"Exception", "BaseException"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    limit: float
    where: str = ""

    @property
    def good(self) -> bool:
        return self.value <= self.limit

    def line(self) -> str:
        mark = "" if self.good else "  EXCEEDED"
        return f"{self.name:44} {self.value:8.4g}  at most {self.limit:<6g} {self.where}{mark}"


def modules(folder: Path) -> list[tuple[Path, str, ast.Module]]:
    texts = [(path, path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.py"))]
    return [(path, text, ast.parse(text)) for path, text in texts]


def functions(tree: ast.Module) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def broad_excepts(tree: ast.Module) -> int:
    """Handlers that catch everything."""
    handlers = [node for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)]
    names = [
        {each.id for each in ast.walk(h.type) if isinstance(each, ast.Name)} if h.type else BROAD for h in handlers
    ]
    return sum(1 for found in names if found & BROAD)


def patched_tests(tree: ast.Module) -> tuple[int, int]:
    """Tests that replace something at run time, and all tests."""
    tests = [each for each in functions(tree) if each.name.startswith("test_")]
    return sum(1 for test in tests if any(arg.arg == "monkeypatch" for arg in test.args.args)), len(tests)


def compares_both_ends(tree: ast.Module) -> list[str]:
    """Functions that test the beginning and the end of the same bytes, as recognising a text chunk does."""
    found: list[str] = []
    for function in functions(tree):
        ends: dict[str, set[str]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute) and node.attr in ("startswith", "endswith"):
                ends.setdefault(ast.dump(node.value), set()).add(node.attr)
        if any(len(each) == 2 for each in ends.values()):
            found.append(function.name)
    return found


def imports_name(tree: ast.Module, name: str) -> bool:
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return any(alias.name == name for node in imports for alias in node.names)


def figures() -> list[Figure]:
    source = modules(SOURCE)
    lines = {path: len(text.splitlines()) for path, text, _ in source}
    sizes = [
        (length(each), f"{path.relative_to(SOURCE)}: {each.name}") for path, _, t in source for each in functions(t)
    ]
    longest_file = max(lines, key=lines.__getitem__)
    anys = sum(len(re.findall(r"\bAny\b", text)) for _, text, _ in source)
    core = [tree for path, _, tree in source if path.relative_to(SOURCE).parts[0] in CORE]
    trees = [(str(path.relative_to(SOURCE)), tree) for path, _, tree in source]
    ends = [f"{path}: {name}" for path, tree in trees for name in compares_both_ends(tree)]
    shortcuts = [path for path, tree in trees if imports_name(tree, "TextMatcher")]  # each recognises the text by it
    patched = [patched_tests(tree) for _, _, tree in modules(TESTS)]
    folders = folders_of_a_chunk_without_the_fast_path()
    packages = {folder.partition("/")[0] for folder in folders}
    return [
        Figure("lines of a function, median", statistics.median(size for size, _ in sizes), 6),
        Figure("lines of a function, most", *_most(sizes, 40)),
        Figure("lines of a file, most", lines[longest_file], 250, str(longest_file.relative_to(SOURCE))),
        Figure("the word Any per 1000 lines of src", anys / sum(lines.values()) * 1000, 12),
        Figure("broad excepts in the core", sum(map(broad_excepts, core)), 0),
        Figure(
            "tests with a monkeypatch per 100 tests", sum(p for p, _ in patched) / sum(n for _, n in patched) * 100, 0.5
        ),
        Figure("places that test the two ends of a chunk", len(ends), 1, ", ".join(ends)),
        Figure("ways of a text chunk", len(shortcuts) + 1, 3, ", ".join([*shortcuts, "Session"])),
        Figure(
            "packages that a plain text chunk crosses",
            len(packages),
            8,
            f"{len(folders)} folders: {', '.join(folders)}",
        ),
    ]


def _most(sizes: list[tuple[int, str]], limit: int) -> tuple[int, int, str]:
    size, where = max(sizes)
    return size, limit, where


def folders_of_a_chunk_without_the_fast_path() -> list[str]:
    """In a process of its own, because the switch is read once, when a process starts."""
    environment = {**os.environ, "MOONGATE_FAST": "0", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "tests.yardstick", "--chunk"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


async def folders_of_a_chunk() -> list[str]:
    """Folders of the functions that run while one text chunk comes from a provider and goes to a client."""
    from bench.contender import KEY
    from bench.inside import AGENT, TEXTS, Inside
    from bench.load import Job, Requests
    from bench.upstream import END, HEAD, ROLE, STOP

    from moongate.payload import dumps_text

    inside = Inside()
    job = Job("/v1/chat/completions", dumps_text({**AGENT, "stream": True}), {"authorization": f"Bearer {KEY}"})
    inside.client.data_received(Requests(job, port=1).next())
    await _settled()
    for read in (HEAD + ROLE, TEXTS[0], TEXTS[1]):
        inside.provider.data_received(read)
        await _settled()
    found: set[str] = set()

    def record(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(SOURCE):
            found.add(path.parent.relative_to(SOURCE).as_posix())

    sys.setprofile(record)
    try:
        inside.provider.data_received(TEXTS[2])
        await _settled()
    finally:
        sys.setprofile(None)
    inside.provider.data_received(STOP + END)
    await _settled()
    inside.runs += 1
    inside.close()
    return sorted(found - {"."})


async def _settled() -> None:
    """Without the eager task a waiting task goes on in the next iterations of the loop."""
    for _ in range(20):
        await asyncio.sleep(0)


def main(arguments: list[str]) -> int:
    if arguments == ["--chunk"]:
        print("\n".join(asyncio.run(folders_of_a_chunk())))
        return 0
    found = figures()
    print("\n".join(figure.line() for figure in found))
    return 0 if all(figure.good for figure in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
