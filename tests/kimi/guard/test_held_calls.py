"""Calls of a stream are held back until they are whole."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.chat.items import Chunk
from moongate.kimi.guard.calls import GuardedCall
from moongate.kimi.guard.held_calls import CHUNK_CHARS, MAX_HELD_CHARS, HeldCalls, renamed_id

Row = dict[str, Any]


def entry(index: Any, text: str = "", id_: str | None = None, name: str | None = None, kind: str = "function") -> Row:
    body = {"arguments" if kind == "function" else "input": text} | ({} if name is None else {"name": name})
    return {"index": index, kind: body} | ({} if id_ is None else {"id": id_, "type": kind})


def chunk_of(*entries: Any) -> Chunk:
    choice = {"index": 0, "delta": {"tool_calls": list(entries)}, "finish_reason": None}
    return Chunk({"id": "c", "model": "m", "choices": [choice], "extra": 1}, b"raw")


def calls(**mended: str) -> HeldCalls:
    """Tools by name, and the arguments that theirs are mended to."""

    def check(name: str, arguments: str, *, custom: bool) -> GuardedCall:
        notes = (Note("guard", "", arguments, mended[name]),) if name in mended else ()
        return GuardedCall(name, mended.get(name, arguments), custom, notes=notes)

    return HeldCalls(0, check)


def held(found: HeldCalls, *entries: Any) -> list[Chunk]:
    return found.hold(chunk_of(*entries), entries)


def test_chunks_leave_as_they_came_if_nothing_is_mended() -> None:
    found = calls()
    first, second = chunk_of(entry(0, "", "a", "f")), chunk_of(entry(0, "{}"))
    for chunk in (first, second):
        assert found.hold(chunk, chunk.payload["choices"][0]["delta"]["tool_calls"]) == []
    assert found.release() == [first, second]
    assert [(call.name, call.arguments) for _, call in found.calls] == [("f", "{}")]
    assert found.release() == []


def test_a_mended_call_is_written_anew_and_the_others_with_it() -> None:
    found = calls(f="[]")
    held(found, entry(0, "{", "a", "f"), entry(1, "x", "b", "g", "custom"))
    held(found, entry(0, "}"))
    deltas = [chunk.payload["choices"][0]["delta"]["tool_calls"][0] for chunk in found.release()]
    assert deltas == [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}},
        {"index": 0, "function": {"arguments": "[]"}},
        {"index": 1, "id": "b", "type": "custom", "custom": {"name": "g", "input": "x"}},
    ]


def test_what_repeats_in_a_stream_repeats_in_what_is_written() -> None:
    found = calls(f="[]")
    held(found, entry(0, "{}", "a", "f"))
    assert {name for chunk in found.release() for name in chunk.payload} == {"id", "model", "choices"}


def test_the_next_call_shows_that_the_held_ones_are_whole() -> None:
    found = calls()
    assert not found.is_next([entry(0, "", "a", "f")])
    held(found, entry(0, "{", "a", "f"))
    assert not found.is_next([entry(1, "", "b", "f")])
    held(found, entry(0, "}"), "odd")
    assert found.is_next([entry(1, "", "b", "f"), "odd"])
    assert not found.is_next([entry(0, "", "b", "f")])
    assert not found.is_next([entry(None, "", "b", "f")])


def test_deltas_of_a_call_that_has_left_follow_it() -> None:
    found = calls()
    held(found, entry(0, "{}", "a", "f"))
    found.release()
    late = chunk_of(entry(0, " "))
    assert found.hold(late, [entry(0, " ")]) == [late]


def test_too_many_arguments_flow() -> None:
    found = calls()
    assert held(found, entry(0, "x" * (MAX_HELD_CHARS - CHUNK_CHARS), "a", "f")) == []
    assert len(held(found, entry(0, "x"))) == 2
    assert found.flowing
    assert len(held(found, entry(0, "x"))) == 1
    assert len(held(found, entry(1, "x", "b", "f"))) == 1


def test_a_check_is_made_once_until_more_comes() -> None:
    found = calls()
    held(found, entry(None, "{}", "a", "f"))
    assert found.checked() is found.checked()
    before = found.checked()
    held(found, entry(None, " "))
    assert found.checked() is not before


@pytest.mark.parametrize(
    ("id_", "name", "new", "wanted"),
    [
        ("functions.Read:3", "Read", "read", "functions.read:3"),
        ("functions.a.b:3", "a.b", "a_b", "functions.a_b:3"),
        ("functions.read:3", "read", "read", "functions.read:3"),
        ("call_7", "Read", "read", "call_7"),
        ("x:3", "Read", "read", "x:3"),
    ],
)
def test_ids_follow_a_mended_name(id_: str, name: str, new: str, wanted: str) -> None:
    assert renamed_id(id_, name, new) == wanted


def test_very_many_small_chunks_are_too_much_to_hold() -> None:
    found = calls()
    chunks = [held(found, entry(0, "x")) for _ in range(MAX_HELD_CHARS // CHUNK_CHARS)]
    assert found.flowing
    assert sum(map(len, chunks)) == len(chunks)
