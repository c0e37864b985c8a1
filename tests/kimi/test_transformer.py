"""The Kimi transformer: frozen, made from options."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from tests.kimi.answering import REQUEST, answer, call

from moongate import BadRequest, ConfigError, KimiOptions, KimiTransformer


def test_it_is_frozen() -> None:
    transformer = KimiTransformer()
    with pytest.raises(FrozenInstanceError):
        transformer.options = KimiOptions()  # type: ignore[misc]


def test_the_model_and_the_host_are_read_from_their_names() -> None:
    transformer = KimiTransformer.from_config(None, model="kimi-k3", base_url="https://api.moonshot.ai/v1")
    assert transformer.model is not None
    assert transformer.host is not None
    assert (transformer.model.family, transformer.host.name) == ("k3", "moonshot")


def test_options_alone_are_enough() -> None:
    body = answer({"tool_calls": [call("x")]}, "tool_calls")
    k2, k3 = KimiTransformer(), KimiTransformer(KimiOptions(family="k3"))
    assert k2.begin(REQUEST).reply(body)["choices"][0]["message"]["tool_calls"][0]["id"] == "functions.bash:0"
    assert k3.begin(REQUEST).reply(body) is body


def test_a_wrong_option_is_told_with_its_path() -> None:
    with pytest.raises(ConfigError, match=r"here\.manualToolParsing"):
        KimiTransformer.from_config({"manualToolParsing": 1}, model="kimi-k2", path="here")


def test_a_bad_request_is_refused() -> None:
    with pytest.raises(BadRequest):
        KimiTransformer().begin({"messages": "odd"})


def test_equal_options_make_equal_transformers() -> None:
    assert KimiTransformer() == KimiTransformer()
    assert KimiTransformer() != KimiTransformer(KimiOptions(repair_arguments=True))
