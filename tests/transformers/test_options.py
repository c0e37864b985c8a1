from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from moongate import ConfigError
from moongate.transformers.options import Configured, is_count, is_flag, is_number, is_tag, is_text, option


@dataclass(frozen=True)
class Sample(Configured):
    top_p: float = option(0.5, is_number, "a number")
    on: bool = option(True, is_flag, "a flag")
    most: int = option(1, is_count, "a count")
    tag: str = option("t", is_tag, "a tag")
    text: str = option("", is_text, "a text")


@dataclass(frozen=True)
class Bare(Configured):
    pass


def test_both_spellings_are_read() -> None:
    assert (
        Sample.from_config({"topP": 1, "most": 7}) == Sample.from_config({"top_p": 1, "most": 7}) == Sample(1, most=7)
    )
    assert Sample.from_config(None) == Sample()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"topp": 1}, r"use\[0\]\.topp: unknown option 'topp', did you mean 'top_p'\?"),
        ({"top_p": True}, r"use\[0\]\.top_p: must be a number, not True"),
        ({"top_p": float("nan")}, "must be a number"),
        ({"top_p": 10**400}, "must be a number"),
        ({"on": 1}, "must be true or false, not 1"),
        ({"most": 0}, "must be a whole number above 0"),
        ({"most": 1.5}, "must be a whole number above 0"),
        ({"tag": "a b"}, "must be a tag's name"),
        ({"tag": 1}, "must be a tag's name"),
        ({"text": 1}, "must be a text"),
    ],
)
def test_errors_have_a_path(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Sample.from_config(options, "use[0]")


def test_without_options_there_is_nothing_near() -> None:
    with pytest.raises(ConfigError, match=r"^x: unknown option 'x': this transformer has none"):
        Bare.from_config({"x": 1}, "")
