"""Transformers by name."""

from __future__ import annotations

from typing import Any

import pytest

from moongate import ConfigError
from moongate.kimi.transformer import KimiTransformer, PlainKimiTransformer
from moongate.pipeline.registry import PLAIN_TRANSFORMERS, TRANSFORMERS, build_chain, disturbances, known_name
from moongate.transformers.parameters import MaxTokenTransformer
from moongate.transformers.table import GENERIC
from moongate.transformers.tool_use import ToolUseTransformer


def test_a_chain_is_built_from_names_and_options() -> None:
    use: list[Any] = ["Kimi", ["Kimi", {"preset": "agent"}], ("Kimi", {"idPrefix": "tools"}), ["Kimi"]]
    first, second, third, fourth = build_chain(use, model="kimi-k2").transformers
    assert isinstance(second, KimiTransformer)
    assert isinstance(third, KimiTransformer)
    assert second.options.manual_tool_parsing
    assert third.options.id_prefix == "tools"
    assert first == fourth


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (["kimmi"], r"transformer\.use\[0\]: unknown transformer 'kimmi', did you mean 'Kimi'\?"),
        (["Kimi", "KIMI"], r"transformer\.use\[1\]: unknown transformer 'KIMI', did you mean 'Kimi'\?"),
        (["zzzzzz"], r"unknown transformer 'zzzzzz'; known are Kimi"),
        ([["Kimi", {"presett": "agent"}]], r"transformer\.use\[0\]\[1\]\.presett: .*preset"),
        ([7], r"transformer\.use\[0\]: must be"),
        ([[]], r"transformer\.use\[0\]: must be"),
        ([["Kimi", 1]], r"transformer\.use\[0\]: must be"),
        ([["Kimi", {}, {}]], r"transformer\.use\[0\]: must be"),
        ([[{}]], r"transformer\.use\[0\]: must be"),
    ],
)
def test_errors_have_a_path(use: list[Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_chain(use, model="kimi-k2")


def test_the_star_is_one_row_beside_the_generic_ones() -> None:
    assert list(TRANSFORMERS) == ["Kimi", *GENERIC]


def test_generic_names_in_any_case_with_or_without_the_suffix() -> None:
    use: list[Any] = ["TooluseTransformer", ["MAXTOKEN", {"max_tokens": 7}], "Kimi"]
    first, second, third = build_chain(use, model="kimi-k2").transformers
    assert first == ToolUseTransformer()
    assert second == MaxTokenTransformer(7)
    assert isinstance(third, KimiTransformer)
    with pytest.raises(ConfigError, match=r"use\[0\]\[1\]\.max: unknown option 'max', did you mean 'max_tokens'"):
        build_chain([["maxtoken", {"max": 7}]], model="kimi-k2")


def test_known_names() -> None:
    assert known_name("Own", {"Own"}) == "Own"
    assert known_name("TOOLUSE", {"tooluse"}) == "tooluse"
    assert known_name("tooluse", {"Own"}) is None
    assert known_name("kimi", {"Kimi"}) is None


def test_disturbances_need_kimi() -> None:
    assert disturbances(["tooluse", "sampling"]) == []
    assert [name for name, _ in disturbances(["Kimi", "sampling"])] == ["sampling"]


def test_the_plain_transformers_have_the_same_names() -> None:
    assert list(PLAIN_TRANSFORMERS) == list(TRANSFORMERS)
    (kimi,) = build_chain(["Kimi"], model="kimi-k2", known=PLAIN_TRANSFORMERS).transformers
    assert isinstance(kimi, PlainKimiTransformer)
    assert not kimi.fast
