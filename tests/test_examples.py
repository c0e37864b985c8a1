"""The examples that people read are run: docstrings of the library, and the page on embedding."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

import moongate

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
EMBEDDING = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"## (.+?)\n.*?```python\n(.*?)```", EMBEDDING, re.DOTALL)

PUBLIC = [
    "BadRequest",
    "ConfigError",
    "Exchange",
    "GatewayError",
    "KimiOptions",
    "KimiTransformer",
    "Session",
    "normalise_schema",
    "read_reply",
]


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried
    assert not failed


@pytest.mark.parametrize("name", ["moongate", "moongate.pipeline.session", "moongate.pipeline.non_stream"])
def test_the_entrances_have_examples(name: str) -> None:
    assert name in WITH_EXAMPLES


@pytest.mark.parametrize(("title", "code"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_embedding(title: str, code: str) -> None:
    exec(compile(code, f"docs/embedding.md: {title}", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("title", ["A request", "A whole answer", "A byte stream"])
def test_the_three_ways_in_take_about_ten_lines(title: str) -> None:
    lines = [line for line in dict(EXAMPLES)[title].splitlines() if line.strip() and "assert" not in line]
    assert len(lines) <= 12


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_names_are_there(name: str) -> None:
    assert name in moongate.__all__
    assert getattr(moongate, name).__doc__


def test_all_is_what_there_is() -> None:
    assert sorted(moongate.__all__) == moongate.__all__
    for name in moongate.__all__:
        assert hasattr(moongate, name)
