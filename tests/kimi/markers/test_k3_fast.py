"""Complete elements of calls are read in one step."""

from __future__ import annotations

import pytest
from tests.kimi.marker_reading import ParsedCall, ParsedChoice

from moongate.kimi.markers.k3_call import K3Call
from moongate.kimi.markers.k3_fast import read_children, read_empty_calls, skip_repeats
from moongate.kimi.markers.piece_builder import PieceBuilder
from moongate.kimi.markers.pieces import Dropped

SEP = "<|sep|>"


def child(body: str, tag: str = 'argument key="a" type="string"', name: str = "argument") -> str:
    return f"<|open|>{tag}{SEP}{body}<|close|>{name}{SEP}"


def read(text: str, dropped: int = 0) -> tuple[int, str]:
    """Where the children end, and the arguments that they make."""
    builder = PieceBuilder("content")
    call = K3Call("calc", builder, repair=False)
    end = read_children(text, 0, call)
    call.end()
    pieces = builder.take()
    assert sum(isinstance(piece, Dropped) for piece in pieces) == dropped
    (parsed,) = ParsedChoice().take(pieces).calls
    assert (parsed.name, parsed.truncated) == ("calc", False)
    return end, parsed.arguments


def test_complete_children() -> None:
    text = child("x\n") + child(" 7 ", 'argument  key="b"')
    assert read(text + "tail") == (len(text), '{"a": "x\\n", "b": 7}')
    assert read(child('{"a": 1}', "json", "json")) == (len(child('{"a": 1}', "json", "json")), '{"a": 1}')


def test_many_children_and_one_without_a_key() -> None:
    keyless = child("x", "argument")
    text = "".join(child(str(at), f'argument key="{at // 2 % 300}"') for at in range(700)) + keyless + child("y")
    end, arguments = read(text, dropped=1)
    assert end == len(text)
    assert arguments.startswith('{"0": 0, "0": 1, "1": 2, ')
    assert arguments.endswith(', "49": 699, "a": "y"}')


def test_children_of_a_call_that_takes_no_more_arguments() -> None:
    text = child("{}", "json", "json") + child("1") * 40
    assert read(text, dropped=40) == (len(text), "{}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        child("a<b"),
        child("a", name="json"),
        child("a", "argumentum"),
        child("a")[:-1],
        child("a", "argument " + "x" * 600),
        f'<|open|>call tool="b"{SEP}',
        f"<|close|>argument{SEP}",
    ],
)
def test_anything_else_is_not_read(text: str) -> None:
    assert read(text) == (0, "{}")
    assert read(child("x") + text) == (len(child("x")), '{"a": "x"}')


def test_calls_without_arguments() -> None:
    a, b, end = f'<|open|>call tool="a"{SEP}', f'<|open|>call tool=" b " index="2"{SEP}', f"<|close|>call{SEP}"
    text = a + b + a + end
    assert read_empty_calls(text + "tail", 0) == (len(text), [("", "a", "{}"), ("", "b", "{}"), ("", "a", "{}")])
    assert read_empty_calls(a + a, 0) == (len(a), [("", "a", "{}")]), "the last one may have arguments"
    assert read_empty_calls("x" + a + end, 1) == (1 + len(a + end), [("", "a", "{}")])


def test_many_calls_without_arguments() -> None:
    text = "".join(f'<|open|>call tool="t{at}"{SEP}' for at in range(400))
    end, calls = read_empty_calls(text + f"<|close|>call{SEP}", 0)
    assert (end, calls) == (len(text) + len(f"<|close|>call{SEP}"), [("", f"t{at}", "{}") for at in range(400)])
    nameless = f"<|open|>call{SEP}"
    assert read_empty_calls(text + nameless + text, 0) == (len(text), calls)


@pytest.mark.parametrize(
    "text",
    [
        f'<|open|>call tool="a"{SEP}',
        f'<|open|>call tool="a"{SEP}' + child("x"),
        f'<|open|>call tool="a"{SEP}<|open|>call x',
        f"<|open|>call{SEP}<|close|>call{SEP}",
        f'<|open|>call tool=" "{SEP}<|close|>call{SEP}',
        f'<|open|>called tool="a"{SEP}<|close|>call{SEP}',
        f'<|open|>call tool="a"{SEP} <|close|>call{SEP}',
    ],
)
def test_any_other_call_is_not_read(text: str) -> None:
    assert read_empty_calls(text, 0) == (0, [])


def test_repeated_tags_are_skipped() -> None:
    tools = f"<|open|>tools{SEP}"
    assert skip_repeats(tools * 3 + "x", len(tools), tools) == 3 * len(tools)
    assert skip_repeats(tools + "x", len(tools), tools) == len(tools)


def test_calls_become_pieces() -> None:
    builder = PieceBuilder("content")
    builder.whole_calls(read_empty_calls(f'<|open|>call tool="a"{SEP}<|close|>call{SEP}', 0)[1])
    assert ParsedChoice().take(builder.take()).calls == [ParsedCall("", "a", "{}", False)]
