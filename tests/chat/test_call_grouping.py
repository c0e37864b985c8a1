"""Which call a delta belongs to."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.call_grouping import (
    CallGrouping,
    CallSlot,
    arguments_text,
    body_of,
    call_index,
    function_of,
    text_of,
)


def delta(*, index: Any = None, id: Any = None, name: Any = None, arguments: Any = None) -> dict[str, Any]:  # noqa: A002
    entry: dict[str, Any] = {"function": {"name": name, "arguments": arguments}}
    return {**entry, **({} if index is None else {"index": index}), **({} if id is None else {"id": id})}


def grouped(*entries: dict[str, Any]) -> list[tuple[str, str, str]]:
    grouping = CallGrouping(CallSlot)
    for entry in entries:
        grouping.route(entry)
    return [(slot.original_id, slot.name, slot.arguments) for slot in grouping.slots]


def test_deltas_go_by_their_index() -> None:
    assert grouped(
        delta(index=0, id="a", name="f", arguments="1"),
        delta(index=1, id="b", name="g", arguments="2"),
        delta(index=0, arguments="3"),
        delta(index=1, arguments="4"),
    ) == [("a", "f", "13"), ("b", "g", "24")]


def test_another_id_or_a_new_name_after_arguments_begins_a_call() -> None:
    first = delta(index=0, id="a", name="f", arguments="1")
    for again in (delta(index=0, id="b", name="f"), delta(index=0, name="g")):
        assert len(grouped(first, again)) == 2
    for same in (delta(index=0, id="a", name="f"), delta(index=0, id="", name=""), delta(index=0, name="f")):
        assert len(grouped(first, same)) == 1
    # Before arguments a second name may be anything; the first one counts.
    assert grouped(delta(index=0, name="f"), delta(index=0, name="g", arguments="1")) == [("", "f", "1")]
    # A name that comes late is the call's own.
    assert grouped(delta(index=0, id="a", arguments="1"), delta(index=0, name="f")) == [("a", "f", "1")]


def test_after_a_reused_index_deltas_go_to_the_later_call() -> None:
    assert grouped(
        delta(index=0, id="a", name="f", arguments="1"),
        delta(index=0, id="b", name="f", arguments="2"),
        delta(index=0, arguments="3"),
    ) == [("a", "f", "1"), ("b", "f", "23")]


def test_without_an_index_deltas_go_to_the_current_call() -> None:
    assert grouped(
        delta(id="a", name="f", arguments="1"),
        delta(arguments="2"),
        delta(id="b", name="f", arguments="3"),
        delta(name="g", arguments="4"),
        delta(index="0", arguments="5"),
    ) == [("a", "f", "12"), ("b", "f", "3"), ("", "g", "45")]


def test_the_same_name_again_without_ids_is_a_new_call_if_the_arguments_are_complete() -> None:
    assert len(grouped(delta(name="f", arguments='{"a":1}'), delta(name="f", arguments="{}"))) == 2
    assert len(grouped(delta(name="f", arguments='{"a":1}'), delta(name="f", arguments=""))) == 1
    assert len(grouped(delta(name="f", arguments='{"a":{}'), delta(name="f", arguments="}"))) == 1
    assert len(grouped(delta(name="f", arguments='{"a":'), delta(name="f", arguments="1}"))) == 1
    assert len(grouped(delta(id="a", name="f", arguments='{"a":1}'), delta(name="f", arguments=" "))) == 1
    assert len(grouped(delta(name="f", arguments='{"a":1}'), delta(id="a", name="f", arguments=" "))) == 1


def test_a_name_on_every_delta_costs_no_more_than_some_looks() -> None:
    grouping = CallGrouping(CallSlot)
    for _ in range(40):
        slot = grouping.route(delta(name="f", arguments="}"))
    assert len(grouping.slots) == 1
    assert slot.probes == 16


def test_a_slot_knows_whether_the_last_delta_was_its_first() -> None:
    grouping = CallGrouping(CallSlot)
    assert grouping.route(delta(id="a")).fresh
    assert not grouping.route(delta(id="a")).fresh


@pytest.mark.parametrize(("value", "index"), [(0, 0), (7, 7), (-1, None), ("0", None), (None, None), (True, None)])
def test_call_index(value: Any, index: int | None) -> None:
    assert call_index({"index": value}) == index


def test_values_of_the_wrong_type_count_as_none() -> None:
    assert function_of({"function": "f"}) == {}
    assert text_of(7) == ""
    assert arguments_text({"a": 1}) == '{"a":1}'
    assert arguments_text(None) == ""
    assert arguments_text("x") == "x"


def test_a_custom_call_has_its_name_and_text_under_custom() -> None:
    first = {"index": 0, "id": "a", "custom": {"name": "patch", "input": "*"}}
    assert grouped(first, {"index": 0, "custom": {"input": "+"}}) == [("a", "patch", "*+")]
    assert body_of({"custom": 1}) == ("function", {})
