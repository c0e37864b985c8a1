"""Arguments with keys and types become one JSON object."""

from __future__ import annotations

import pytest
from tests.kimi.marker_reading import ParsedChoice

from moongate.kimi.markers.k3_call import K3Call, render_argument
from moongate.kimi.markers.piece_builder import PieceBuilder
from moongate.kimi.markers.pieces import Dropped


class CallUnderTest:
    """A call and the pieces that it becomes."""

    def __init__(self, name: str = "calc", repair: bool = False) -> None:
        self.builder = PieceBuilder("content")
        self.call = K3Call(name, self.builder, repair)

    def child(self, body: str, name: str = "argument", **attributes: str) -> CallUnderTest:
        self.call.open(name, attributes)
        for char in body:
            self.call.feed(char)
        self.call.close()
        return self

    def end(self) -> str:
        self.call.end()
        return self.arguments(truncated=False)

    def arguments(self, truncated: bool) -> str:
        (call,) = ParsedChoice().take(self.builder.take()).calls
        assert (call.original_id, call.name, call.truncated) == ("", "calc", truncated)
        return call.arguments


def test_no_arguments() -> None:
    assert CallUnderTest().end() == "{}"


def test_a_string_argument_is_the_body_itself() -> None:
    tested = CallUnderTest().child('say "hi"\n\\ é', key='k"', type="string").child("", key="b", type="string")
    assert tested.end() == '{"k\\"": "say \\"hi\\"\\n\\\\ é", "b": ""}'


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("9007199254740993", "9007199254740993"),
        (" 1.50\n", "1.50"),
        ('{"k": [1, 2]}', '{"k": [1, 2]}'),
        ("null", "null"),
        ('"12"', '"12"'),
        ("True", '"True"'),
        (" x ", '" x "'),
        ("", '""'),
        ("NaN", '"NaN"'),
        ('["a\nb"]', '"[\\"a\\nb\\"]"'),
    ],
)
@pytest.mark.parametrize("kind", ["number", "object", None])
def test_any_other_type_is_json_or_else_text(body: str, value: str, kind: str | None) -> None:
    attributes = {"key": "x"} if kind is None else {"key": "x", "type": kind}
    assert CallUnderTest().child(body, **attributes).end() == f'{{"x": {value}}}'


def test_complete_arguments_are_rendered_at_once() -> None:
    tested = CallUnderTest()
    assert tested.call.takes_arguments
    tested.call.add(['"a": 1', '"b": 2'])
    tested.child("x", key="c", type="string").call.add(['"d": 3'])
    assert tested.end() == '{"a": 1, "b": 2, "c": "x", "d": 3}'
    assert not CallUnderTest("").call.takes_arguments
    assert not CallUnderTest().child("{}", "json").call.takes_arguments


@pytest.mark.parametrize("body", ["", "x\ny", " 7 ", '{"a": 1}', '"a\nb"', "é"])
@pytest.mark.parametrize("kind", [{}, {"type": "string"}, {"type": "number"}])
@pytest.mark.parametrize("repair", [False, True])
def test_rendered_arguments_equal_streamed_ones(body: str, kind: dict[str, str], repair: bool) -> None:
    attributes = {"key": 'k"', **kind}
    assert (
        CallUnderTest(repair=repair).child(body, **attributes).end()
        == "{" + str(render_argument(attributes, body, repair)) + "}"
    )
    assert render_argument(kind, body, repair) is None


def test_repair_of_a_typed_value() -> None:
    assert CallUnderTest(repair=True).child('["a\nb"]', key="x", type="array").end() == '{"x": ["a\\nb"]}'
    assert CallUnderTest(repair=True).child("a\nb", key="x", type="array").end() == '{"x": "a\\nb"}'


def test_a_json_child_is_all_arguments_as_it_came() -> None:
    assert CallUnderTest().child(' {"b": 1,  "a": [2 , 3]} ', "json").end() == '{"b": 1,  "a": [2 , 3]}'
    assert CallUnderTest().child(" ", "json").end() == "{}"
    assert CallUnderTest().child("see above", "json").end() == "see above"
    assert CallUnderTest(repair=True).child('"{\\"a\\": 1}"', "json").end() == '{"a": 1}'


def test_only_the_first_form_of_arguments_counts() -> None:
    tested = CallUnderTest().child("1", key="a").child("{}", "json").child("2", key="b")
    assert tested.end() == '{"a": 1, "b": 2}'
    tested = CallUnderTest().child('{"a": 1}', "json").child("1", key="b").child("{}", "json")
    assert tested.end() == '{"a": 1}'


def test_dropped_children_are_reported() -> None:
    tested = CallUnderTest().child("1", type="number").child("1", key="a").child("{}", "json")
    assert [piece.why for piece in tested.builder.take() if isinstance(piece, Dropped)] == [
        "an argument without a key",
        "the call has its arguments already",
    ]


def test_a_call_without_a_name_yields_nothing() -> None:
    tested = CallUnderTest(name="").child("1", key="a")
    tested.call.end()
    tested.call.truncate()
    assert tested.builder.take() == []


@pytest.mark.parametrize(
    ("attributes", "body", "begun"),
    [
        ({"key": "t", "type": "string"}, 'a"', '{"t": "a\\"'),
        ({"key": "t", "type": "number"}, " 12", '{"t": 12'),
        ({"key": "t", "type": "object"}, '{"a": "', '{"t": {"a": "'),
        ({"key": "t", "type": "object"}, "src/", '{"t": "src/'),
        ({"key": "t", "type": "object"}, "", '{"t": '),
        ({}, "lost", "{}"),
    ],
)
def test_a_truncated_argument_is_never_completed(attributes: dict[str, str], body: str, begun: str) -> None:
    tested = CallUnderTest()
    tested.call.open("argument", attributes)
    tested.call.feed(body)
    tested.call.truncate()
    assert tested.arguments(truncated=True) == begun


@pytest.mark.parametrize("body", ['{"a": 1}', '{"a": '])
def test_a_json_child_of_a_truncated_call_is_what_came(body: str) -> None:
    tested = CallUnderTest()
    tested.call.open("json", {})
    tested.call.feed(body)
    tested.call.truncate()
    assert tested.arguments(truncated=True) == body.strip()
