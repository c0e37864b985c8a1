"""Channels, whitespace that is held back, calls."""

from __future__ import annotations

from moongate.kimi.markers.piece_builder import STRAY, PieceBuilder
from moongate.kimi.markers.pieces import CallArguments, CallClosed, CallOpened, Dropped, Text, WholeCalls


def test_adjacent_texts_become_one_piece() -> None:
    builder = PieceBuilder("content")
    builder.text("a")
    builder.text(" ")
    assert builder.take() == [Text("content", "a ")]
    assert builder.take() == []


def test_text_belongs_to_its_field() -> None:
    builder = PieceBuilder("reasoning")
    builder.text("a")
    builder.switch_field("reasoning")
    builder.text("b")
    builder.switch_field("content")
    builder.text("c")
    assert builder.take() == [Text("reasoning", "ab"), Text("content", "c")]


def test_thinking_in_content_is_reasoning() -> None:
    builder = PieceBuilder("content")
    builder.think(True)
    builder.text("a")
    builder.switch_field("reasoning")
    builder.text("b")
    builder.switch_field("content")
    builder.text("c")
    builder.think(False)
    builder.text("d")
    assert builder.take() == [Text("reasoning", "abc"), Text("content", "d")]


def test_reasoning_may_end_in_its_own_field() -> None:
    builder = PieceBuilder("reasoning")
    builder.think(False)
    builder.text("a")
    builder.think(True)
    builder.text("b")
    builder.switch_field("content")
    builder.text("c")
    assert builder.take() == [Text("content", "a"), Text("reasoning", "b"), Text("content", "c")]


def test_a_call_that_began_in_reasoning_ends_it() -> None:
    for block_field, channel in (("reasoning", "content"), ("content", "reasoning")):
        builder = PieceBuilder("content")
        builder.block_field = block_field  # type: ignore[assignment]
        builder.call_boundary()
        builder.switch_field("reasoning")
        assert builder.channel == channel


def test_a_lone_closing_tag_leaves_a_gap_between_words() -> None:
    builder = PieceBuilder("content")
    for before, after, gap in (("a", "b", "\n\n"), ("a ", "b", ""), ("a", " b", "")):
        builder.text(before)
        builder.close_tag()
        assert builder.immediate is before.endswith(" ")
        builder.close_tag()
        builder.text(after)
        assert builder.take() == [Text("content", before + gap + after)]
    builder.call_boundary()
    builder.close_tag()
    builder.text("x")
    assert builder.take() == [Text("content", "x")]


def test_whitespace_that_is_held_back_leaves_no_gap() -> None:
    builder = PieceBuilder("content")
    builder.call_boundary()
    builder.text("a")
    builder.markup_boundary()
    builder.close_tag()
    builder.text("\n")
    builder.text("b")
    assert builder.take() == [Text("content", "a\nb")]
    builder.markup_boundary()
    builder.close_tag()
    builder.text("\n")
    builder.markup_boundary()
    builder.text("c")
    assert builder.take() == [Text("content", "\n\nc")]


def test_held_back_whitespace_of_content_waits_while_reasoning_comes() -> None:
    builder = PieceBuilder("content")
    builder.call_boundary()
    builder.text(" ")
    builder.switch_field("reasoning")
    assert builder.immediate
    builder.text(" r")
    builder.switch_field("content")
    builder.text("c")
    assert builder.take() == [Text("reasoning", " r"), Text("content", " c")]


def test_whitespace_is_kept_before_the_first_section() -> None:
    builder = PieceBuilder("content")
    builder.text(" ")
    builder.markup_boundary()
    builder.text("\n")
    assert builder.immediate
    assert builder.take() == [Text("content", " \n")]


def test_after_a_section_whitespace_is_held_back_until_text_follows() -> None:
    builder = PieceBuilder("content")
    builder.call_boundary()
    assert not builder.immediate
    builder.text(" ")
    builder.text("\n")
    assert builder.take() == []
    builder.text("x ")
    builder.text(" ")
    assert builder.immediate
    assert builder.take() == [Text("content", " \nx  ")]


def test_after_a_section_whitespace_between_markup_is_dropped() -> None:
    builder = PieceBuilder("reasoning")
    builder.call_boundary()
    builder.text("x")
    builder.markup_boundary()
    builder.text(" ")
    builder.markup_boundary()
    builder.text("y")
    assert builder.take() == [Text("content", "xy")]


def test_calls_and_text_keep_their_order() -> None:
    builder = PieceBuilder("content")
    builder.text("a")
    builder.add(CallOpened("", "bash"))
    builder.arguments("{")
    builder.arguments("")
    assert builder.take() == [Text("content", "a"), CallOpened("", "bash"), CallArguments("{")]
    builder.arguments("}")
    builder.close_call(truncated=False)
    builder.text(" b")
    assert builder.take() == [CallArguments("}"), CallClosed(), Text("content", " b")]


def test_a_call_opened_and_closed_in_one_feed_is_a_whole_call() -> None:
    builder = PieceBuilder("content")
    for cut in (False, True):
        builder.add(CallOpened("", "bash"))
        builder.arguments("{}")
        builder.close_call(cut)
    assert builder.take() == [
        WholeCalls([("", "bash", "{}")]),
        CallOpened("", "bash"),
        CallArguments("{}"),
        CallClosed(truncated=True),
    ]
    builder.add(CallOpened("", "bash"))
    builder.drop("end", "<end>")
    builder.arguments("{}")
    builder.close_call(truncated=False)
    assert builder.take()[-1] == CallClosed()
    builder.close_call(truncated=False)
    assert builder.take() == [CallClosed()]


def test_whole_calls_at_once() -> None:
    builder = PieceBuilder("reasoning")
    builder.text("a")
    builder.whole_calls([("7", "bash", "{}")])
    builder.text(" ")
    builder.whole_calls([("8", "bash", "{}"), ("9", "time", "{}")])
    builder.text("b")
    builder.whole_calls([("0", "bash", "{}")])
    assert builder.take() == [
        Text("reasoning", "a"),
        WholeCalls([("7", "bash", "{}"), ("8", "bash", "{}"), ("9", "time", "{}")]),
        Text("content", "b"),
        WholeCalls([("0", "bash", "{}")]),
    ]
    assert builder.channel == "content"


def test_stray_markup_is_reported_once() -> None:
    builder = PieceBuilder("content")
    builder.drop("end", "<end>")
    builder.drop("end", "<end>")
    builder.drop("begin", "<begin>")
    assert builder.take() == [Dropped("<end>", STRAY), Dropped("<begin>", STRAY)]


def test_reported_kinds_are_known() -> None:
    builder = PieceBuilder("content")
    builder.drop("a", "<a>")
    assert builder.has_noted({"a"})
    assert not builder.has_noted({"a", "b"})


def test_text_that_passed_unread_counts_for_the_gap() -> None:
    builder = PieceBuilder("content")
    builder.passed("reasoning", "a")
    builder.close_tag()
    builder.text("b")
    builder.passed("content", "c")
    builder.close_tag()
    builder.text("d")
    assert builder.take() == [Text("content", "b\n\nd")]
