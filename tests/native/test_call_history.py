from __future__ import annotations

from tests.native.rules import history_of, rules_of


def test_ids_of_a_history() -> None:
    calls = history_of(rules_of("kimi-k2"))
    calls.begin_message()
    assert [calls.call_id("toolu_1", "f"), calls.call_id("same", "g"), calls.call_id("same", "g")] == [
        "functions.f:0",
        "functions.g:1",
        "functions.g:2",
    ]
    assert [calls.result_id(each) for each in ("same", "same", "same", "toolu_1", "unknown")] == [
        "functions.g:1",
        "functions.g:2",
        "functions.g:2",
        "functions.f:0",
        "unknown",
    ]
    calls.begin_message()
    assert calls.call_id("toolu_1", "f") == "functions.f:3"
    assert calls.result_id("toolu_1") == "functions.f:3", "the last message with this id"


def test_ids_that_our_fronts_have_written_are_known() -> None:
    calls = history_of(rules_of("kimi-k2"))
    calls.begin_message()
    assert calls.call_id("functions--f--7", "f") == "functions.f:7"


def test_ids_of_an_answer() -> None:
    calls = history_of(rules_of("kimi-k2"))
    calls.begin_message()
    calls.call_id("toolu_1", "f")
    assert calls.answer_id("toolu_2", "f") == "toolu_2"
    assert calls.answer_id("toolu_2", "f") == "functions--f--1"
    assert calls.answer_id("toolu_1", "f") == "functions--f--2"
    assert calls.answer_id(None, "f") == "functions--f--3"
    assert calls.answer_id("", "f") == "functions--f--4"
    assert calls.answer_id_at(0, "", "f") == calls.answer_id_at(0, "", "f") == "functions--f--5"


def test_without_repair() -> None:
    calls = history_of(rules_of("kimi-k2", repairOnMismatch=False))
    calls.begin_message()
    assert calls.call_id("x", "f") == "x"
    assert calls.answer_id("x", "f") == "x"
    assert calls.answer_id(7, "f").startswith("f_")
