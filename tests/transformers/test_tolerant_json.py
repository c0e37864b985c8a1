from __future__ import annotations

from typing import Any

import pytest

from moongate.transformers.tolerant_json import MAX_DEPTH, tolerant_object


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{}", {}),
        ("{'a': 'it\\'s', \"b\": 'say \"x\"'}", {"a": "it's", "b": 'say "x"'}),
        ("{a: [1, -2.5e3, true,], b_c-d: None, $e: {},}", {"a": [1, -2500.0, True], "b_c-d": None, "$e": {}}),
        ('{"a": True, "b": False, "c": null}', {"a": True, "b": False, "c": None}),
        ('{"a": "line\none\ttab"}', {"a": "line\none\ttab"}),
        ('{"a": "one\\\ntwo"}', {"a": "one\ntwo"}),
        ('{ // why\n "a": /* because */ 1 } // end', {"a": 1}),
        ('```json\n{"a": 1,}\n```', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": "b"', {"a": "b"}),
        ('{"a": {"b": ["c"', {"a": {"b": ["c"]}}),
        ('{"a": [', {"a": []}),
        ('{"a": "\\u00e9"}', {"a": "é"}),
    ],
)
def test_what_has_one_meaning(text: str, value: dict[str, Any]) -> None:
    assert tolerant_object(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "[1]",
        '"text"',
        "'[1]'",
        '{"command": "rm -rf /ho',
        '{"lines": 1',
        '{"a": 1} {"b": 2}',
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        '{"a": maybe}',
        '{"a": 01}',
        '{"a": }',
        '{"a": "\\x"}',
        "{1: 2}",
        '{"a": ' + "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1) + "}",
    ],
)
def test_what_has_not(text: str) -> None:
    assert tolerant_object(text) is None
