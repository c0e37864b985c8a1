"""What the client sees: channels, stretches of blanks, calls."""

from __future__ import annotations

from moongate.kimi.pieces import CallArguments, CallClosed, CallOpened, Dropped, Text, WholeCalls
from moongate.kimi.visible import STRAY, Visible


def test_neighbouring_texts_become_one_piece() -> None:
    visible = Visible("content")
    visible.say("a")
    visible.say(" ")
    assert visible.take() == [Text("content", "a ")]
    assert visible.take() == []


def test_text_belongs_to_the_channel_of_its_time() -> None:
    visible = Visible("reasoning")
    visible.say("a")
    visible.turn("reasoning")
    visible.say("b")
    visible.turn("content")
    visible.say("c")
    assert visible.take() == [Text("reasoning", "ab"), Text("content", "c")]


def test_blanks_stay_before_the_first_section() -> None:
    visible = Visible("content")
    visible.say(" ")
    visible.pause()
    visible.say("\n")
    assert visible.flows
    assert visible.take() == [Text("content", " \n")]


def test_behind_it_blanks_wait_for_text() -> None:
    visible = Visible("content")
    visible.after()
    assert not visible.flows
    visible.say(" ")
    visible.say("\n")
    assert visible.take() == []
    visible.say("x ")
    visible.say(" ")
    assert visible.flows
    assert visible.take() == [Text("content", " \nx  ")]


def test_behind_it_a_stretch_of_blanks_is_dropped() -> None:
    visible = Visible("reasoning")
    visible.after()
    visible.say("x")
    visible.pause()
    visible.say(" ")
    visible.pause()
    visible.say("y")
    assert visible.take() == [Text("content", "xy")]


def test_calls_and_text_keep_their_order() -> None:
    visible = Visible("content")
    visible.say("a")
    visible.add(CallOpened("", "bash"))
    visible.argue("{")
    visible.argue("")
    assert visible.take() == [Text("content", "a"), CallOpened("", "bash"), CallArguments("{")]
    visible.argue("}")
    visible.close_call(cut=False)
    visible.say(" b")
    assert visible.take() == [CallArguments("}"), CallClosed(), Text("content", " b")]


def test_a_call_that_begins_and_ends_at_once_is_a_whole_one() -> None:
    visible = Visible("content")
    for cut in (False, True):
        visible.add(CallOpened("", "bash"))
        visible.argue("{}")
        visible.close_call(cut)
    assert visible.take() == [
        WholeCalls([("", "bash", "{}")]),
        CallOpened("", "bash"),
        CallArguments("{}"),
        CallClosed(cut=True),
    ]
    visible.add(CallOpened("", "bash"))
    visible.drop("end", "<end>")
    visible.argue("{}")
    visible.close_call(cut=False)
    assert visible.take()[-1] == CallClosed()
    visible.close_call(cut=False)
    assert visible.take() == [CallClosed()]


def test_whole_calls_at_once() -> None:
    visible = Visible("reasoning")
    visible.say("a")
    visible.calls([("7", "bash", "{}")])
    visible.say(" ")
    visible.calls([("8", "bash", "{}"), ("9", "time", "{}")])
    visible.say("b")
    visible.calls([("0", "bash", "{}")])
    assert visible.take() == [
        Text("reasoning", "a"),
        WholeCalls([("7", "bash", "{}"), ("8", "bash", "{}"), ("9", "time", "{}")]),
        Text("content", "b"),
        WholeCalls([("0", "bash", "{}")]),
    ]
    assert visible.channel == "content"


def test_stray_markup_is_named_once() -> None:
    visible = Visible("content")
    visible.drop("end", "<end>")
    visible.drop("end", "<end>")
    visible.drop("begin", "<begin>")
    assert visible.take() == [Dropped("<end>", STRAY), Dropped("<begin>", STRAY)]


def test_what_was_named_is_known() -> None:
    visible = Visible("content")
    visible.drop("a", "<a>")
    assert visible.knows({"a"})
    assert not visible.knows({"a", "b"})
