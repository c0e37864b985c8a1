from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.kimi.tool_tokens import K2_TOKENS, MAX_TOKEN_CHARS, ToolTokens


def test_any_subset_can_be_configured() -> None:
    assert ToolTokens.from_config({"callEnd": "</call>"}, "here") == ToolTokens(call_end="</call>")
    assert ToolTokens.from_config({}, "here") == K2_TOKENS


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"callEnd": 3}, "here.callEnd"),
        ({"callEnd": ""}, "here.callEnd"),
        ({"callEnd": "x" * (MAX_TOKEN_CHARS + 1)}, "here.callEnd"),
        ({"callEnd": "x", "callBegin": "x"}, "here"),
        ({"callStart": "x"}, "here.callStart"),
    ],
)
def test_a_text_that_cannot_be_a_marker_is_refused(config: dict[str, Any], path: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        ToolTokens.from_config(config, "here")
    assert refusal.value.path == path


def test_the_longest_marker_is_accepted() -> None:
    assert ToolTokens.from_config({"argBegin": "x" * MAX_TOKEN_CHARS}, "here").arg_begin == "x" * MAX_TOKEN_CHARS
