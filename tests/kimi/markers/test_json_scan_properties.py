"""Property tests of `json_scan`; `test_json_scan` has the examples."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kimi.markers.test_json_scan import shape_of
from tests.support.length import examples

from moongate.kimi.markers.json_scan import Completeness, JsonScanner


def parses(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(st.text('{}[]",:\\ 01-e.truefalsn\n', max_size=12), st.integers(0, 12))
def test_the_scanner_agrees_with_a_json_parser(text: str, cut: int) -> None:
    assert (shape_of(text[:cut], text[cut:]) is Completeness.COMPLETE) == parses(text)


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
    st.booleans(),
)
def test_no_prefix_of_json_is_broken(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    scanner = JsonScanner()
    for char in text:
        assert scanner.completeness is not Completeness.BROKEN
        scanner.feed(char)
    assert scanner.completeness is Completeness.COMPLETE
