"""Arguments as they come: blanks around them, the verdict, the doubt, and the repair."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moongate.kimi.arguments import Arguments, Mender, has_control, repaired, settled
from moongate.kimi.json_scan import Shape
from moongate.kimi.markers import K2Markers
from moongate.kimi.options import K2_TOKENS

MARKERS = K2Markers.of(K2_TOKENS).arguments
END, ARGS = K2_TOKENS.call_end, K2_TOKENS.arg_begin


def said(*pieces: str, mend: bool = False) -> list[str]:
    arguments = Arguments(mend)
    return [*(arguments.feed(piece) for piece in pieces), arguments.close()]


def test_they_leave_as_they_come() -> None:
    assert said('{"a"', ': "x', ' y"}') == ['{"a"', ': "x', ' y"}', ""]


def test_blanks_around_them_are_dropped_and_blanks_inside_wait() -> None:
    assert said(" \n", ' {"a": ', "  ", "1 ", "} ", "\n") == ["", '{"a":', "", "   1", " }", "", ""]


def test_none_at_all_are_an_empty_object() -> None:
    assert said() == ["{}"]
    assert said(" ", "\n") == ["", "", "{}"]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("", Shape.WHOLE),
        ('{"a": 1} ', Shape.WHOLE),
        ("tru", Shape.OPEN),
        ('{"a": "x', Shape.OPEN),
        ('{"a": 1', Shape.OPEN),
        ("{'a': 1}", Shape.BROKEN),
        ("see", Shape.BROKEN),
    ],
)
def test_verdict(text: str, shape: Shape) -> None:
    for mend in (False, True):
        arguments = Arguments(mend)
        arguments.feed(text)
        assert arguments.verdict() is shape
        assert arguments.verdict() is shape


def test_the_verdict_grows_with_the_text() -> None:
    arguments = Arguments(mend=False)
    arguments.feed('"a')
    assert arguments.verdict() is Shape.OPEN
    arguments.feed(END)
    assert arguments.verdict() is Shape.OPEN
    arguments.feed('"')
    assert arguments.verdict() is Shape.WHOLE
    arguments.feed("x")
    assert arguments.verdict() is Shape.BROKEN


def test_what_was_doubted_can_be_forgotten() -> None:
    arguments = Arguments(mend=True)
    arguments.feed('"{}')
    arguments.doubt()
    arguments.feed(END)
    arguments.feed(" ")
    arguments.retract()
    assert arguments.close() == '"{}'


def test_so_are_markers_behind_what_was_doubted() -> None:
    arguments = Arguments(mend=True)
    arguments.feed('{"a": "')
    arguments.doubt()
    for text in (END, '"', "x"):
        arguments.feed(text)
    arguments.marker(ARGS)
    arguments.feed("y")
    arguments.retract()
    assert arguments.close() == ""


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        ('{"a": "x\ny"}', '{"a": "x\\ny"}'),
        ('{"a": "\t\r\b\f\x01"}', '{"a": "\\t\\r\\b\\f\\u0001"}'),
        ('{\n"a":\t"x"\n}', '{\n"a":\t"x"\n}'),
        ('{"a\n": ["\n"]}', '{"a\\n": ["\\n"]}'),
        ('{"a": "\\"\n\\\\"}', '{"a": "\\"\\n\\\\"}'),
        ('{"a": "x\\\n"}', '{"a": "x\\\n"}'),
        ('{"a": "x\ny', '{"a": "x\\ny'),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ('"{\\"a\\": \\"x\\ny\\"}"', '{"a": "x\\ny"}'),
        ('"[1]"', '"[1]"'),
        ('"a', '"a'),
        ('say "\n"', 'say "\n"'),
        ('{"a": 1}' + END, '{"a": 1}'),
        ('{"a": 1} ' + END + "\n" + END + "<|im_end|> ", '{"a": 1}'),
        ('{"a": 1} ' + END + " x ", '{"a": 1} ' + END + " x "),
        ('{"a": "' + END + '"}', '{"a": "' + END + '"}'),
        ('{"a": "' + END, '{"a": "' + END),
        ('"{}"' + END, "{}"),
        (END + "{}", END + "{}"),
        ("", ""),
        ("  ", "  "),
        (' {"a": 1}\n', ' {"a": 1}\n'),
        (' {"a": "\n"}\n', '{"a": "\\n"}'),
    ],
)
def test_repair_of_whole_arguments(text: str, mended: str) -> None:
    assert repaired(text, MARKERS) == mended
    assert repaired(mended, MARKERS) == mended, "once"


def test_a_marker_is_ordinary_text_where_nothing_is_mended() -> None:
    arguments = Arguments(mend=False)
    assert [arguments.feed("{}"), arguments.marker(ARGS), arguments.feed(" x")] == ["{}", ARGS, " x"]


def test_the_verdict_looks_behind_trailing_markers() -> None:
    arguments = Arguments(mend=True)
    arguments.feed('{"a": 1}')
    arguments.marker(ARGS)
    assert arguments.verdict() is Shape.WHOLE
    arguments.feed(" ")
    arguments.marker(ARGS)
    assert arguments.verdict() is Shape.WHOLE
    arguments.feed("x")
    assert arguments.verdict() is Shape.BROKEN
    assert arguments.close() == f"{ARGS} {ARGS}x"


def test_behind_a_marker_nothing_becomes_json_any_more() -> None:
    arguments = Arguments(mend=True)
    arguments.feed('{"a":')
    arguments.marker(ARGS)
    assert arguments.verdict() is Shape.BROKEN
    assert arguments.close() == "", "a trailing marker is cut"


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.text('{}":,\\ \n\tab\x01', max_size=4), max_size=8), st.booleans())
def test_any_cut_says_the_same(pieces: list[str], mend: bool) -> None:
    assert "".join(said(*pieces, mend=mend)) == "".join(said("".join(pieces), mend=mend))


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.text('{}[]":,\\ \n\tab\x011\ud800', max_size=16), st.booleans())
@example('"{\\"a\\": \\"\ud800\\"}"', True)
@example('"\ud800"', True)
def test_in_one_piece_they_are_the_same(text: str, mend: bool) -> None:
    arguments = Arguments(mend)
    leaves, shape = arguments.feed(text), arguments.verdict()
    found, whole = settled(text, mend)
    assert found == leaves + arguments.close()
    assert shape is Shape.WHOLE or not whole


def test_control_characters_are_found() -> None:
    assert has_control("a\x1f")
    assert not has_control("a b\x7f")


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.dictionaries(st.text(), st.text()), st.booleans())
def test_good_json_is_never_touched(value: dict[str, str], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=1)
    assert "".join(said(text, mend=True)) == text
    assert Mender().feed(text) == text


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text("ab\n\t\x00\x1f é", max_size=20))
def test_raw_control_characters_mean_themselves(value: str) -> None:
    assert json.loads(Mender().feed(f'["{value}"]')) == [value]
