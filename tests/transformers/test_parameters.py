from __future__ import annotations

from typing import Any

import pytest

from moongate import ConfigError
from moongate.transformers.parameters import (
    CustomParamsTransformer,
    MaxCompletionTokensTransformer,
    MaxTokenTransformer,
    SamplingTransformer,
    StreamOptionsTransformer,
)


@pytest.mark.parametrize(
    ("transformer", "request_", "sent"),
    [
        (StreamOptionsTransformer(), {"stream": True}, {"stream": True, "stream_options": {"include_usage": True}}),
        (MaxTokenTransformer(10), {"max_tokens": 11}, {"max_tokens": 10}),
        (MaxTokenTransformer(10), {"max_completion_tokens": 11.5}, {"max_completion_tokens": 10}),
        (MaxCompletionTokensTransformer(), {"max_tokens": 5}, {"max_completion_tokens": 5}),
        (MaxCompletionTokensTransformer(), {"max_tokens": 5, "max_completion_tokens": 6}, {"max_completion_tokens": 6}),
        (MaxCompletionTokensTransformer(), {"max_tokens": None}, {}),
        (SamplingTransformer(temperature=0.2, top_k=4), {"temperature": 1}, {"temperature": 0.2, "top_k": 4}),
        (SamplingTransformer(max_tokens=9, top_p=0.1), {"max_tokens": 10}, {"max_tokens": 9, "top_p": 0.1}),
        (SamplingTransformer(repetition_penalty=1.1), {}, {"repetition_penalty": 1.1}),
        (CustomParamsTransformer({"a": 1, "b": 2}), {"a": 0, "b": None}, {"a": 0, "b": 2}),
        (CustomParamsTransformer({"a": {"b": {"c": 1}}}), {"a": {"b": {"d": 2}}}, {"a": {"b": {"d": 2, "c": 1}}}),
    ],
)
def test_what_is_sent(transformer: Any, request_: dict[str, Any], sent: dict[str, Any]) -> None:
    before = {"messages": [], **request_}
    assert transformer.begin(before).request == {"messages": [], **sent}
    assert before == {"messages": [], **request_}


@pytest.mark.parametrize(
    ("transformer", "request_"),
    [
        (StreamOptionsTransformer(), {"stream": False}),
        (StreamOptionsTransformer(), {"stream": True, "stream_options": {"include_usage": True}}),
        (MaxTokenTransformer(10), {"max_tokens": 10}),
        (MaxTokenTransformer(10), {"max_tokens": "many"}),
        (MaxTokenTransformer(10), {}),
        (MaxCompletionTokensTransformer(), {"max_completion_tokens": 5}),
        (SamplingTransformer(), {"temperature": 1}),
        (SamplingTransformer(temperature=1), {"temperature": 1}),
        (CustomParamsTransformer({}), {"a": 1}),
        (CustomParamsTransformer({"a": {"b": 1}}), {"a": {"b": 2}}),
        (CustomParamsTransformer({"a": {"b": 1}}), {"a": 2}),
    ],
)
def test_what_is_left_alone_is_the_same_object(transformer: Any, request_: dict[str, Any]) -> None:
    assert transformer.begin(request_).request is request_


@pytest.mark.parametrize("name", ["messages", "model", "stream", "tools"])
def test_what_the_client_decides_is_no_parameter(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"use\[1\]\.{name}: '{name}' is the client's to decide"):
        CustomParamsTransformer.from_config({name: 1}, "use[1]")
    with pytest.raises(ConfigError, match=f"^{name}: "):
        CustomParamsTransformer.from_config({name: 1}, "")


def test_custom_parameters_are_the_options() -> None:
    assert CustomParamsTransformer.from_config({"seed": 1}).begin({}).request == {"seed": 1}
    assert CustomParamsTransformer.from_config().begin({}).request == {}
