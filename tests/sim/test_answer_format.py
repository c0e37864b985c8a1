from __future__ import annotations

import pytest

from moongate.sim.answer_format import formatted


@pytest.mark.parametrize(
    ("wanted", "prompt", "expected"),
    [
        (None, "", "hi"),
        ({"type": "text"}, "", "hi"),
        ({"type": "json_object"}, "a key named 'port', and \"pier\"", '{"port":"port 2","pier":"pier 2"}'),
        ({"type": "json_object"}, "any", '{"answer":"hi"}'),
        (
            {"type": "json_schema", "json_schema": {"schema": {"type": "array", "items": {"type": "integer"}}}},
            "",
            "[2]",
        ),
        ({"type": "json_schema"}, "", "{}"),
    ],
)
def test_texts_in_the_wanted_format(wanted: object, prompt: str, expected: str) -> None:
    assert formatted("hi", wanted, prompt, 2) == expected
