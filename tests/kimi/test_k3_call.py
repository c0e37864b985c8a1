"""Arguments with keys and types become one JSON object."""

from __future__ import annotations

import pytest
from tests.kimi.marker_reading import Heard

from moongate.kimi.k3_call import K3Call, written_argument
from moongate.kimi.pieces import Dropped
from moongate.kimi.visible import Visible


class Talk:
    """A call and what leaves of it."""

    def __init__(self, name: str = "calc", mend: bool = False) -> None:
        self.visible = Visible("content")
        self.call = K3Call(name, self.visible, mend)

    def child(self, body: str, name: str = "argument", **attributes: str) -> Talk:
        self.call.open(name, attributes)
        for char in body:
            self.call.feed(char)
        self.call.close()
        return self

    def end(self) -> str:
        self.call.end()
        return self.arguments(cut=False)

    def arguments(self, cut: bool) -> str:
        (call,) = Heard().take(self.visible.take()).calls
        assert (call.given, call.name, call.cut) == ("", "calc", cut)
        return call.arguments


def test_no_arguments() -> None:
    assert Talk().end() == "{}"


def test_strings_are_the_body_itself() -> None:
    talk = Talk().child('say "hi"\n\\ é', key='k"', type="string").child("", key="b", type="string")
    assert talk.end() == '{"k\\"": "say \\"hi\\"\\n\\\\ é", "b": ""}'


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
    assert Talk().child(body, **attributes).end() == f'{{"x": {value}}}'


def test_whole_arguments_are_written_at_once() -> None:
    talk = Talk()
    assert talk.call.takes_arguments
    talk.call.add(['"a": 1', '"b": 2'])
    talk.child("x", key="c", type="string").call.add(['"d": 3'])
    assert talk.end() == '{"a": 1, "b": 2, "c": "x", "d": 3}'
    assert not Talk("").call.takes_arguments
    assert not Talk().child("{}", "json").call.takes_arguments


@pytest.mark.parametrize("body", ["", "x\ny", " 7 ", '{"a": 1}', '"a\nb"', "é"])
@pytest.mark.parametrize("kind", [{}, {"type": "string"}, {"type": "number"}])
@pytest.mark.parametrize("mend", [False, True])
def test_they_are_what_they_would_be_piece_by_piece(body: str, kind: dict[str, str], mend: bool) -> None:
    attributes = {"key": 'k"', **kind}
    assert Talk(mend=mend).child(body, **attributes).end() == "{" + str(written_argument(attributes, body, mend)) + "}"
    assert written_argument(kind, body, mend) is None


def test_repair_of_a_typed_value() -> None:
    assert Talk(mend=True).child('["a\nb"]', key="x", type="array").end() == '{"x": ["a\\nb"]}'
    assert Talk(mend=True).child("a\nb", key="x", type="array").end() == '{"x": "a\\nb"}'


def test_a_json_child_is_all_arguments_as_it_came() -> None:
    assert Talk().child(' {"b": 1,  "a": [2 , 3]} ', "json").end() == '{"b": 1,  "a": [2 , 3]}'
    assert Talk().child(" ", "json").end() == "{}"
    assert Talk().child("see above", "json").end() == "see above"
    assert Talk(mend=True).child('"{\\"a\\": 1}"', "json").end() == '{"a": 1}'


def test_arguments_in_two_ways_are_one_too_many() -> None:
    talk = Talk().child("1", key="a").child("{}", "json").child("2", key="b")
    assert talk.end() == '{"a": 1, "b": 2}'
    talk = Talk().child('{"a": 1}', "json").child("1", key="b").child("{}", "json")
    assert talk.end() == '{"a": 1}'


def test_what_is_left_out_is_told() -> None:
    talk = Talk().child("1", type="number").child("1", key="a").child("{}", "json")
    assert [piece.why for piece in talk.visible.take() if isinstance(piece, Dropped)] == [
        "an argument without a key",
        "the call has its arguments already",
    ]


def test_a_call_without_a_name_leaves_nothing() -> None:
    talk = Talk(name="").child("1", key="a")
    talk.call.end()
    talk.call.cut()
    assert talk.visible.take() == []


@pytest.mark.parametrize(
    ("attributes", "body", "begun"),
    [
        ({"key": "t", "type": "string"}, 'a"', '{"t": "a\\"'),
        ({"key": "t", "type": "number"}, " 12", '{"t": 12'),
        ({"key": "t", "type": "object"}, '{"a": "', '{"t": {"a": "'),
        ({"key": "t", "type": "object"}, "src/", '{"t": "src/'),
        ({"key": "t", "type": "object"}, "", '{"t": '),
        ({}, "lost", "{"),
    ],
)
def test_a_cut_argument_is_never_completed(attributes: dict[str, str], body: str, begun: str) -> None:
    talk = Talk()
    talk.call.open("argument", attributes)
    talk.call.feed(body)
    talk.call.cut()
    assert talk.arguments(cut=True) == begun


@pytest.mark.parametrize(("body", "cut"), [('{"a": 1}', False), ('{"a": ', True)])
def test_a_cut_json_child_may_be_complete(body: str, cut: bool) -> None:
    talk = Talk()
    talk.call.open("json", {})
    talk.call.feed(body)
    talk.call.cut()
    assert talk.arguments(cut) == body.strip()
