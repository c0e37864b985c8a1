"""Property tests of `arguments`; `test_arguments` has the examples."""

from __future__ import annotations

import json

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.kimi.markers.test_arguments import emitted
from tests.support.length import examples

from moongate.kimi.markers.arguments import (
    Arguments,
    ArgumentsRepair,
    finished_arguments,
)
from moongate.kimi.markers.json_scan import Completeness


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(st.lists(st.text('{}":,\\ \n\tab\x01', max_size=4), max_size=8), st.booleans())
def test_the_result_is_the_same_at_every_cut(pieces: list[str], repair: bool) -> None:
    assert "".join(emitted(*pieces, repair=repair)) == "".join(emitted("".join(pieces), repair=repair))


@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(st.text('{}[]":,\\ \n\tab\x011\ud800', max_size=16), st.booleans())
@example('"{\\"a\\": \\"\ud800\\"}"', True)
@example('"\ud800"', True)
def test_finished_arguments_equal_streamed_ones(text: str, repair: bool) -> None:
    arguments = Arguments(repair)
    streamed, completeness = arguments.feed(text), arguments.completeness()
    found, whole = finished_arguments(text, repair)
    assert found == streamed + arguments.close()
    assert completeness is Completeness.COMPLETE or not whole


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(st.dictionaries(st.text(), st.text()), st.booleans())
def test_valid_json_is_never_changed(value: dict[str, str], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
    assert "".join(emitted(text, repair=True)) == text
    assert ArgumentsRepair().feed(text) == text


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(st.text("ab\n\t\x00\x1f é", max_size=20))
def test_escaped_control_characters_decode_to_themselves(value: str) -> None:
    assert json.loads(ArgumentsRepair().feed(f'["{value}"]')) == [value]
