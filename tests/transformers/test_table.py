from __future__ import annotations

import pytest

from moongate.transformers.table import GENERIC, cautions, generic_name


def test_the_names_that_configurations_use() -> None:
    assert sorted(GENERIC) == [
        *("cleancache", "customparams", "enhancetool", "forcereasoning", "maxcompletiontokens"),
        *("maxtoken", "reasoning", "sampling", "streamoptions", "tooluse"),
    ]


@pytest.mark.parametrize("name", sorted(GENERIC))
def test_in_any_case_with_or_without_the_suffix(name: str) -> None:
    for form in (name, name.upper(), name.title(), f"{name.title()}Transformer", f"{name}TRANSFORMER"):
        assert generic_name(form) == name


@pytest.mark.parametrize("name", ["", "Transformer", "Kimi", "KimiTransformer", "tool use"])
def test_other_names(name: str) -> None:
    assert generic_name(name) is None


@pytest.mark.parametrize("name", sorted(GENERIC))
def test_every_row_builds_without_options(name: str) -> None:
    row = GENERIC[name]
    request: dict[str, object] = {"messages": []}
    assert row.build(None, "options").begin(request).request["messages"] is not None
    assert row.does


def test_cautions_depend_on_the_order() -> None:
    assert cautions(["maxtoken", "Kimi", "streamoptions", "other"], 1) == []
    assert [name for name, _ in cautions(["sampling", "tooluse", "Kimi"], 2)] == ["tooluse"]
    assert [name for name, _ in cautions(["Kimi", "sampling", "tooluse"], 0)] == ["sampling", "tooluse"]
