"""Tags in text, and those that are quoted as code: every case whole and at a few cuts."""

from __future__ import annotations

import pytest
from tests.kimi.k2_markup import CALL, LS, parse, reader
from tests.kimi.marker_reading import ParsedChoice, cut_in

from moongate.kimi.markers.code_spans import MAX_SPAN_CHARS
from moongate.kimi.markers.piece_builder import STRAY
from moongate.kimi.markers.pieces import Dropped, Text


@pytest.mark.parametrize(
    "text",
    [
        "Write `<think>` first, `</think>` last, then `<|im_end|>`.",
        "Like this:\n```\n<think>plan</think>answer<|im_end|>\n```\nDone.",
        "``a ` </think> b``",
        "`</think>` and ``<think>``",
        "``` ` <think> ` ```",
        "`` `<think>` and on",
        "`<think></think></think>x`",
    ],
)
def test_quoted_tags_stay(text: str) -> None:
    assert parse(text).content == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`a` b</think>c <|im_end|>`d`", "`a` b\n\nc `d`"),
        ("a ` b </think>c", "a ` b c"),
        ("a `b</think>c", "a `b\n\nc"),
        ("``a</think>b` c", "``a\n\nb` c"),
        ("``a` b</think>c` d", "``a` b</think>c` d"),
        ("```a`` b ` c<|im_end|>", "```a`` b ` c"),
        ("`a</think>b``", "`a\n\nb``"),
        ("`<|im_end|>", "`"),
    ],
)
def test_a_backtick_that_is_never_closed_opens_no_span(text: str, shown: str) -> None:
    assert parse(text).content == shown


def test_a_call_ends_the_wait() -> None:
    assert parse(f"`a</think>b{LS}c`").content == "`a\n\nbc`"
    assert parse(f"`a<think>{CALL}x`").content == f"`a{CALL}x`"
    assert parse(f"`` `<think>`{LS}").content == "`` `<think>`"
    assert parse(f"`a{LS}`<think>`").content == "`a``", "the text is one, with and without the call"


def test_there_are_no_spans_in_reasoning() -> None:
    assert parse("`<think>`", "reasoning").reasoning == "``"
    parsed = parse("<think>use `</think>` x")
    assert (parsed.reasoning, parsed.content) == ("use `", "` x")
    assert parse("<think>use `x`</think>y").reasoning == "use `x`"


def test_a_tag_waits_with_the_text_behind_it_no_longer_than_the_limit() -> None:
    for room, closes in ((1, True), (2, False)):
        text = "`<think>" + "x" * (MAX_SPAN_CHARS - len("<think>") - 2 + room) + "` y"
        expected = ParsedChoice(text if closes else text.replace("<think>", ""))
        for pieces in ([text], cut_in(text, 1000), cut_in(text, 4097)):
            parser, parsed = reader(), ParsedChoice()
            for piece in pieces:
                parsed.take(parser.feed("content", piece))
            parsed.take(parser.close())
            assert parsed.content == expected.content


def test_many_tags_in_an_open_span() -> None:
    text = "````" + "`</think>" * (MAX_SPAN_CHARS // 4)
    contents = set()
    for pieces in ([text], cut_in(text, 999)):
        parser, parsed = reader(), ParsedChoice()
        for piece in pieces:
            parsed.take(parser.feed("content", piece))
        contents.add(parsed.take(parser.close()).content)
    (content,) = contents
    assert content.count("</think>") > MAX_SPAN_CHARS // 8 - 9, "between the runs of one backtick"


def test_another_field_ends_the_wait() -> None:
    parser = reader()
    parser.feed("content", "`</think>x")
    pieces = parser.feed("reasoning", "r")
    assert "".join(getattr(piece, "text", "") for piece in pieces if hasattr(piece, "channel")) == "\n\nxr"


def test_the_start_of_content_behind_reasoning() -> None:
    for first in ("r", "r<"):
        parser, parsed = reader(), ParsedChoice()
        for delta in (("reasoning", first), ("content", "<think>a</think>b")):
            parsed.take(parser.feed(*delta))
        parsed.take(parser.close())
        assert (parsed.reasoning, parsed.content) == (f"{first}a", "b")
    parser = reader()
    assert parser.feed("content", "<") == []
    assert parser.feed("reasoning", "r") == [Text("content", "<"), Text("reasoning", "r")]
    assert parser.feed("content", "<think>b") == [Dropped("<think>", STRAY), Text("content", "b")]


def test_the_limit_of_the_wait_may_be_reached_exactly() -> None:
    tag = "</think>"
    text = "`" + tag + "x" * (MAX_SPAN_CHARS - len(tag))
    assert parse(f"{text}`y").content == "`\n\n" + "x" * (MAX_SPAN_CHARS - len(tag)) + "`y"
