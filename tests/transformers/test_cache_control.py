from __future__ import annotations

from typing import Any

import pytest

from moongate.transformers.cache_control import CleanCacheTransformer

MARK = {"cache_control": {"type": "ephemeral"}}


def test_it_is_taken_out_everywhere_it_may_stand() -> None:
    schema = {"type": "object", "properties": {"cache_control": {"type": "string"}}}
    request: dict[str, Any] = {
        **MARK,
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi", **MARK}, "odd"], **MARK},
            {"role": "user", "content": "plain"},
            "odd",
        ],
        "tools": [
            {"type": "function", "function": {"name": "f", "parameters": schema, **MARK}, **MARK},
            {"type": "other", **MARK},
        ],
    }
    assert CleanCacheTransformer().begin(request).request == {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}, "odd"]},
            {"role": "user", "content": "plain"},
            "odd",
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": schema}}, {"type": "other"}],
    }


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"messages": "odd", "tools": None},
        {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}], "tools": [{"function": {}}, {}]},
    ],
)
def test_a_clean_request_is_the_same_object(request_: dict[str, Any]) -> None:
    assert CleanCacheTransformer().begin(request_).request is request_
