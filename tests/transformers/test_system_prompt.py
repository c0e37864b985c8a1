from __future__ import annotations

from typing import Any

import pytest

from moongate.transformers.system_prompt import with_instruction

USER = {"role": "user", "content": "Hi"}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([], [{"role": "system", "content": "X"}]),
        ([USER], [{"role": "system", "content": "X"}, USER]),
        (["odd"], [{"role": "system", "content": "X"}, "odd"]),
        ([{"role": "system", "content": "A"}, USER], [{"role": "system", "content": "A\n\nX"}, USER]),
        ([{"role": "developer", "content": ""}], [{"role": "developer", "content": "X"}]),
        ([{"role": "system", "content": None}], [{"role": "system", "content": "X"}]),
        ([{"role": "system", "content": [1]}], [{"role": "system", "content": [1, {"type": "text", "text": "X"}]}]),
    ],
)
def test_it_stands_at_the_end_of_the_system_prompt(messages: list[Any], expected: list[Any]) -> None:
    assert with_instruction({"messages": messages}, "X") == {"messages": expected}


def test_nothing_to_say_and_nowhere_to_say_it() -> None:
    for request, text in (({"messages": [USER]}, ""), ({"messages": "odd"}, "X"), ({}, "X")):
        assert with_instruction(request, text) is request
