"""Arguments as they stream: whitespace, completeness, savepoints and repair."""

from __future__ import annotations

import pytest

from moongate.kimi.markers.arguments import (
    Arguments,
    find_control,
    repair_arguments,
)
from moongate.kimi.markers.json_scan import Completeness
from moongate.kimi.markers.k2_markers import K2Markers
from moongate.kimi.tool_tokens import K2_TOKENS

MARKERS = K2Markers.of(K2_TOKENS).arguments
END, ARGS = K2_TOKENS.call_end, K2_TOKENS.arg_begin


def emitted(*pieces: str, repair: bool = False) -> list[str]:
    arguments = Arguments(repair)
    return [*(arguments.feed(piece) for piece in pieces), arguments.close()]


def test_arguments_come_out_as_they_stream() -> None:
    assert emitted('{"a"', ': "x', ' y"}') == ['{"a"', ': "x', ' y"}', ""]


def test_outer_whitespace_is_dropped_and_inner_whitespace_held_back() -> None:
    assert emitted(" \n", ' {"a": ', "  ", "1 ", "} ", "\n") == ["", '{"a":', "", "   1", " }", "", ""]


def test_arguments_of_whitespace_are_empty() -> None:
    arguments = Arguments(repair=False)
    arguments.feed(" \n")
    assert arguments.empty
    arguments.feed("1")
    assert not arguments.empty


def test_empty_arguments_become_an_empty_object() -> None:
    assert emitted() == ["{}"]
    assert emitted(" ", "\n") == ["", "", "{}"]


@pytest.mark.parametrize(
    ("text", "completeness"),
    [
        ("", Completeness.COMPLETE),
        ('{"a": 1} ', Completeness.COMPLETE),
        ("tru", Completeness.OPEN),
        ('{"a": "x', Completeness.OPEN),
        ('{"a": 1', Completeness.OPEN),
        ("{'a': 1}", Completeness.BROKEN),
        ("see", Completeness.BROKEN),
    ],
)
def test_completeness(text: str, completeness: Completeness) -> None:
    for repair in (False, True):
        arguments = Arguments(repair)
        arguments.feed(text)
        assert arguments.completeness() is completeness
        assert arguments.completeness() is completeness


def test_completeness_follows_the_text() -> None:
    arguments = Arguments(repair=False)
    arguments.feed('"a')
    assert arguments.completeness() is Completeness.OPEN
    arguments.feed(END)
    assert arguments.completeness() is Completeness.OPEN
    arguments.feed('"')
    assert arguments.completeness() is Completeness.COMPLETE
    arguments.feed("x")
    assert arguments.completeness() is Completeness.BROKEN


def test_rollback_forgets_the_text_since_the_savepoint() -> None:
    arguments = Arguments(repair=True)
    arguments.feed('"{}')
    arguments.savepoint()
    arguments.feed(END)
    arguments.feed(" ")
    arguments.rollback()
    assert arguments.close() == '"{}'


def test_rollback_forgets_markers_since_the_savepoint() -> None:
    arguments = Arguments(repair=True)
    arguments.feed('{"a": "')
    arguments.savepoint()
    for text in (END, '"', "x"):
        arguments.feed(text)
    arguments.feed_marker(ARGS)
    arguments.feed("y")
    arguments.rollback()
    assert arguments.close() == ""


@pytest.mark.parametrize(
    ("text", "repaired"),
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
def test_repair_of_whole_arguments(text: str, repaired: str) -> None:
    assert repair_arguments(text, MARKERS) == repaired
    assert repair_arguments(repaired, MARKERS) == repaired, "once"


def test_a_marker_is_text_without_repair() -> None:
    arguments = Arguments(repair=False)
    assert [arguments.feed("{}"), arguments.feed_marker(ARGS), arguments.feed(" x")] == ["{}", ARGS, " x"]


def test_completeness_ignores_trailing_markers() -> None:
    arguments = Arguments(repair=True)
    arguments.feed('{"a": 1}')
    arguments.feed_marker(ARGS)
    assert arguments.completeness() is Completeness.COMPLETE
    arguments.feed(" ")
    arguments.feed_marker(ARGS)
    assert arguments.completeness() is Completeness.COMPLETE
    arguments.feed("x")
    assert arguments.completeness() is Completeness.BROKEN
    assert arguments.close() == f"{ARGS} {ARGS}x"


def test_incomplete_json_before_a_marker_is_broken() -> None:
    arguments = Arguments(repair=True)
    arguments.feed('{"a":')
    arguments.feed_marker(ARGS)
    assert arguments.completeness() is Completeness.BROKEN
    assert arguments.close() == "", "a trailing marker is cut"


def test_control_characters_are_found() -> None:
    assert find_control("a\x1f")
    assert not find_control("a b\x7f")
