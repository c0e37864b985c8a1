"""`docs/architecture.md` names only what exists, the index of decisions is complete, and links lead somewhere."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "moongate"
DOCS = ROOT / "docs"
MAP = (DOCS / "architecture.md").read_text(encoding="utf-8")
DECISIONS = DOCS / "decisions"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]

CODE = re.compile(r"`([^`\n]+)`")
A_PATH = re.compile(r"(?!/)[\w./-]+/[\w./-]*|[\w-]+\.(?:py|md)")
A_CLASS = re.compile(r"([A-Z][a-z]\w*|[A-Z]\d[A-Z]\w+)(?:\.(\w+))?")
A_FUNCTION = re.compile(r"(\w+)\(\)")
A_CONSTANT = re.compile(r"[A-Z][A-Z_]{3,}")


@cache
def named() -> tuple[dict[str, set[str]], set[str]]:
    """The classes of the source with their members, and its functions and constants; those of the docs' tables, too."""
    classes: dict[str, set[str]] = {}
    others: set[str] = set()
    for path in [*SOURCE.rglob("*.py"), *(ROOT / "tests" / "support").glob("*.py"), DOCS / "generate.py"]:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                classes.setdefault(node.name, set()).update(members(node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                others.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                others.update(each.id for each in targets if isinstance(each, ast.Name))
    return classes, others


def members(node: ast.ClassDef) -> set[str]:
    found = {each.name for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    return found | {e.target.id for e in node.body if isinstance(e, ast.AnnAssign) and isinstance(e.target, ast.Name)}


def problem(code: str) -> str | None:
    """What is wrong with a name in the map; None if it exists, or is no name of the source."""
    classes, others = named()
    if A_PATH.fullmatch(code):
        return None if any((root / code).exists() for root in (ROOT, SOURCE)) else "no such file"
    if found := A_CLASS.fullmatch(code):
        if found[1] not in classes:
            return "no such class"
        return None if found[2] is None or found[2] in classes[found[1]] else "no such member"
    if found := A_FUNCTION.fullmatch(code):
        return None if found[1] in others else "no such function"
    if A_CONSTANT.fullmatch(code):
        return None if code in others else "no such constant"
    return None


def test_every_file_and_name_in_the_map_exists() -> None:
    prose = re.sub(r"```.*?```", "", MAP, flags=re.S)
    wrong = {code: problem(code) for code in CODE.findall(prose)}
    assert {code: why for code, why in wrong.items() if why} == {}
    assert sum(bool(A_PATH.fullmatch(code)) for code in wrong) > 50


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("kimi/nowhere.py", "no such file"),
        ("NoClass", "no such class"),
        ("Relay.swim", "no such member"),
        ("swim()", "no such function"),
        ("NOWHERE", "no such constant"),
        ("Relay.run", None),
        ("K2Parser", None),
        ("/v1/messages", None),
        ("limits.answer", None),
    ],
)
def test_what_does_not_exist_is_noticed(code: str, why: str | None) -> None:
    assert problem(code) == why


def test_the_map_names_every_folder_of_the_source() -> None:
    table = MAP.partition("| folder |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"^\| `(\w+)` \|", table, re.M))
    assert listed == {path.parent.name for path in SOURCE.glob("*/__init__.py")}


def test_the_index_of_decisions_is_complete() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(\d{4})\]\(([\w.-]+)\) \| (.+) \| (\d{4}-\d\d-\d\d) \| (.+) \|$", index, re.M)
    files = sorted(path.name for path in DECISIONS.glob("[0-9]*.md"))
    assert [name for _, name, _, _, _ in rows] == files, "add a row to docs/decisions/README.md"
    areas = re.findall(r"^## (\d\d)xx: .+$", index, re.M)
    for number, name, line, _, status in rows:
        assert name.startswith(f"{number}-")
        assert number[:2] in areas
        assert line.endswith(".")
        assert status == "in force" or re.fullmatch(r"replaced by \d{4}", status)
    numbers = [number for number, *_ in rows]
    assert len(set(numbers)) == len(numbers), "two decisions have the same number"


def test_links_lead_somewhere() -> None:
    links = [(page, target) for page in PAGES for target in re.findall(r"\]\(([^)#\s]+)", text_of(page))]
    inside = [(page, target) for page, target in links if "://" not in target]
    assert len(inside) > 100
    assert [f"{page}: {target}" for page, target in inside if not (page.parent / target).exists()] == []


def test_source_files_in_the_docs_exist() -> None:
    """In full, below src/moongate, or (in the threat model) below tests/gateway."""
    roots = (ROOT, SOURCE, ROOT / "tests" / "gateway")
    pattern = re.compile(r"`((?:[\w-]+/)+[\w.-]+\.py|test_\w+\.py)`")
    named = [(page, name) for page in PAGES for name in pattern.findall(text_of(page))]
    assert len(named) > 100
    assert [f"{page}: {name}" for page, name in named if not any((root / name).exists() for root in roots)] == []


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")
