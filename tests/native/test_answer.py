from __future__ import annotations

import pytest

from moongate.chat.verdict import CLEAN, FAILED, Verdict
from moongate.kimi.answer.judge import Judge
from moongate.kimi.notes import Notes
from moongate.kimi.request.tool_names import UNCHANGED
from moongate.native.answer import NativeAnswer


def verdict(answer: NativeAnswer, *, required: bool = False) -> Verdict:
    judge = Judge(Notes(), {"f", "g"}, UNCHANGED, "", required)
    answer.judge(judge)
    return judge.verdict()


def damaged(*kinds: str) -> Verdict:
    return Verdict("damaged", kinds)


def with_call(name: object = "f", *texts: object, default: bytes = b"", ends: bool = True) -> NativeAnswer:
    answer = NativeAnswer(())
    answer.begin_call(0, name, default)
    for text in texts:
        answer.add_arguments(0, text)
    if ends:
        answer.end_call(0)
    return answer


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (with_call("f", '{"a":', "1}"), CLEAN),
        (with_call("f", default=b"{}"), CLEAN),
        (with_call("f", "", None, 7, default=b"{}"), CLEAN),
        (with_call("f", '{"a"', default=b"{}"), damaged("invalid_json")),
        (with_call("f"), damaged("invalid_json")),
        (with_call("f", '{"a":"\ud83d', '\ude00"}'), CLEAN),
        (with_call("h", "{}"), damaged("unknown_tool")),
        (with_call(None, "{}"), damaged("empty_turn", "nameless")),
        (with_call("", "{}"), damaged("empty_turn", "nameless")),
        (with_call("f", '{"a', ends=False), damaged("cut_call")),
    ],
)
def test_calls(answer: NativeAnswer, expected: Verdict) -> None:
    assert verdict(answer) == expected


def test_calls_are_known_by_their_index() -> None:
    answer = NativeAnswer(())
    for index in (0, 1, "strange"):
        answer.begin_call(index, "f")
    assert answer.is_open(1)
    answer.add_arguments(1, "{}")
    answer.add_arguments(0, '{"a":1}')
    answer.add_arguments([], "{}")
    for each in (0, 1, None, 1, 9):
        answer.end_call(each)
    assert not answer.is_open(1)
    answer.add_arguments(1, "late")
    assert verdict(answer) == CLEAN


def test_a_custom_call_holds_any_text() -> None:
    answer = NativeAnswer(())
    answer.begin_call(0, "f", custom=True)
    answer.add_arguments(0, "*** Begin Patch")
    answer.end_call(0)
    assert answer.size == 0
    assert verdict(answer) == CLEAN


def test_text_and_what_is_missing() -> None:
    answer = NativeAnswer(())
    for text in ("", None, 7):
        answer.add_text("content", text)
    answer.add_text("reasoning", "hm")
    assert verdict(answer) == damaged("empty_turn")
    answer.add_text("content", "Hi")
    assert verdict(answer) == CLEAN
    answer.add_text("content", "Hi")
    assert verdict(answer, required=True) == damaged("missing_call")
    answer.reason = "length"
    assert verdict(answer, required=True) == CLEAN


@pytest.mark.parametrize("channel", ["content", "reasoning"])
def test_markers(channel: str) -> None:
    answer = NativeAnswer(("<|call|>",))
    answer.add_text("content", "one <")
    for text in (" <|ca", "ll|> ", "more"):
        answer.add_text(channel, text)
    assert verdict(answer) == damaged("leaked")
    answer.add_text(channel, "<|call")
    answer.clear()
    answer.add_text(channel, "|>")
    assert not answer.leaked


def test_what_is_kept_is_bounded() -> None:
    answer = NativeAnswer((), max_calls=2, max_arguments=10)
    answer.begin_call(0, "f", b"{}")
    for _ in range(4):
        answer.add_arguments(0, "broken")
    assert answer.size == 0, "a call that is too long is not kept"
    answer.begin_call(1, "g", b"{}")
    answer.begin_call(2, "unknown")
    assert answer.size == 2
    for each in range(3):
        answer.end_call(each)
    assert verdict(answer) == CLEAN


def test_a_failure() -> None:
    answer = with_call("f", "{}")
    answer.failed = True
    assert verdict(answer) == FAILED
