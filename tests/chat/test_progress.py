from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.call_grouping import CallGrouping, CallSlot
from moongate.chat.progress import CALL_CHARS, MAX_CALLS, Progress, choice_index


@pytest.mark.parametrize(
    ("payloads", "complete"),
    [
        ([], False),
        ([{"choices": []}], False),
        ([{"choices": None}], False),
        ([{"choices": [None, {"index": 0}]}], False),
        ([{"choices": [{"index": 0, "finish_reason": ""}]}], False),
        ([{"choices": [{"index": 0, "finish_reason": "stop"}]}], True),
        ([{"choices": [{"index": 0, "finish_reason": "stop"}]}, {"choices": [{"index": 0}]}], True),
        ([{"choices": [{"index": 0, "finish_reason": "stop"}, {"index": 1}]}], False),
        ([{"choices": [{"finish_reason": "stop"}, {"finish_reason": "stop"}]}], True),
    ],
)
def test_a_stream_is_complete_when_every_choice_has_finished(payloads: list[dict[str, Any]], complete: bool) -> None:
    progress = Progress()
    for payload in payloads:
        progress.saw(payload)
    assert progress.complete is complete
    assert progress.began is bool(payloads)


def test_a_choice_without_a_number_is_numbered_by_its_place() -> None:
    assert choice_index({"index": 3}, 0) == 3
    assert choice_index({}, 1) == 1
    assert choice_index({"index": "0"}, 1) == 1


def test_text_and_calls_are_measured() -> None:
    progress = Progress(1)
    calls = [{"function": {"arguments": "{}"}}, {"function": {"arguments": {}}}, {"function": None}, None]
    for delta in ({"content": "ab", "reasoning": "c", "role": None}, {"tool_calls": calls}, "odd"):
        progress.saw({"choices": [{"delta": delta}]})
    assert progress.size == 1 + 3 + 2 + 4 * CALL_CHARS


def saw(*deltas: Any, choice: int = 0) -> Progress:
    progress = Progress()
    for delta in deltas:
        progress.saw({"choices": [{"index": choice, "delta": {"tool_calls": [delta]}}]})
    return progress


@pytest.mark.parametrize(
    ("entries", "calls"),
    [
        ([None, "odd"], 0),
        ([{"index": 0, "id": "a", "function": {"name": "f"}}, {"index": 0, "function": {"arguments": "{"}}], 1),
        ([{"index": 0, "id": "a"}, {"index": 0, "id": "a", "function": {"name": "f"}}], 1),
        ([{"index": 0, "id": "a"}, {"index": 1}, {"index": 0}, {"index": 1}], 2),
        ([{"index": 0, "id": "a"}, {"index": 0, "id": "b"}, {"index": 0, "id": "b"}], 2),
        ([{"id": "a"}, {"function": {"arguments": "{"}}, {"id": "b"}], 2),
        ([{"function": {"name": "f"}}, {"function": {"arguments": "{}"}}, {"function": {"name": "f"}}], 2),
        ([{"function": {"name": "f", "arguments": '{"a":'}}, {"function": {"name": "f", "arguments": "1"}}], 1),
        ([{"index": 0, "function": {"name": name, "arguments": "1"}} for name in "fgf"], 3),
        ([{"index": 0, "function": {"name": "f", "arguments": "{}"}}] * 3, 3),
        ([{"index": 0, "custom": {"name": "f", "input": {}}}] * 3, 3),
        ([{"index": 0, "id": "a"}, {"id": "b"}, {"index": 0, "id": "a"}, {"id": "b"}], 3),
    ],
)
def test_calls_are_counted(entries: list[Any], calls: int) -> None:
    assert saw(*entries).calls == calls


@pytest.mark.parametrize(
    "entries",
    [
        [{"index": 0, "function": {"name": name, "arguments": "{}"}} for name in "fgfgffgg"],
        [{"function": {"name": "f", "arguments": text}} for text in ("{", "}", "{}", " {} ", "1", "{}")],
        [{"index": 0, "id": "a"}, {"id": "b"}] * 4,
        [{"index": at % 3, "id": f"{at % 2}", "function": {"name": "f"}} for at in range(20)],
    ],
)
def test_no_call_that_is_kept_goes_uncounted(entries: list[Any]) -> None:
    grouping = CallGrouping(CallSlot)
    for entry in entries:
        grouping.route(entry)
    assert saw(*entries).calls >= len(grouping.slots) > 1


def test_a_name_that_is_repeated_with_each_piece_of_the_arguments_begins_nothing() -> None:
    """Some providers send neither index nor id, and the name again and again."""
    assert saw(*[{"function": {"name": "f", "arguments": "a"}}] * (MAX_CALLS + 1)).calls == 1


def test_what_is_said_in_a_stream_is_bounded() -> None:
    assert not saw({"index": 0}).exceeds(CALL_CHARS)
    assert saw({"index": 0}).exceeds(CALL_CHARS - 1)
    entries: list[Any] = [{"index": index} for index in range(MAX_CALLS)]
    assert not saw(*entries).exceeds(1 << 30)
    progress = saw(*entries, {"index": MAX_CALLS})
    assert progress.exceeds(1 << 30)
    progress = Progress()
    for index in range(MAX_CALLS + 1):
        assert not progress.exceeds(1 << 30)
        progress.saw({"choices": [{"index": index}]})
    assert progress.exceeds(1 << 30)
