"""What the docs list, the code generates."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs.command_pages import man_page
from docs.generate import DOCS, filled, options_table, pages

from moongate.kimi.config_fields import option_name
from moongate.kimi.options import KimiOptions


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in pages()])
def test_the_page_is_as_the_code_says(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == pages()[path], "run: python -m docs.generate"


def test_the_specification_names_every_option_with_its_default() -> None:
    lines = (DOCS / "spec.md").read_text(encoding="utf-8").split("\n")
    said = [line.split(" | ")[0].strip("| `") for line in lines if line.startswith("| `") and line.count("|") >= 4]
    assert [option_name(name) for name in KimiOptions.__dataclass_fields__] == said
    assert all(f"| `{name}` |" in options_table() for name in said)


def test_the_manual_is_ascii_which_every_reader_of_manuals_takes() -> None:
    assert man_page().isascii()
    assert r"\[u2026]" in man_page()


def test_a_page_without_a_place_is_refused() -> None:
    with pytest.raises(ValueError, match="options"):
        filled("no place", options="x")
