from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moongate.gateway.routing.session_key import HEADERS, MAX_HASHED, MAX_LEADING, session_key

CHAT: dict[str, Any] = {
    "messages": [{"role": "system", "content": "You are."}, {"role": "user", "content": "Fix the bug."}]
}


def turn(*more: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"messages": [*CHAT["messages"], *more], **fields}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_names_the_session(name: bytes) -> None:
    first = session_key({name: b"s1", b"x-other": b"1"}, CHAT, b"k")
    assert first == session_key({name: b"s1", b"x-other": b"2"}, {}, b"k")
    assert first != session_key({name: b"s2"}, CHAT, b"k")
    assert first != session_key({name: b"s1"}, CHAT, b"another client")


def test_headers_win_in_their_order_over_the_cache_key_and_the_conversation() -> None:
    headers = {name: name for name in HEADERS}
    for name in HEADERS:
        assert session_key(headers, turn(prompt_cache_key="p"), b"k") == session_key({name: name}, {}, b"k")
        del headers[name]
    assert session_key({HEADERS[0]: b""}, CHAT, b"k") == session_key({}, CHAT, b"k")


def test_the_cache_key_wins_over_the_conversation() -> None:
    first = session_key({}, turn(prompt_cache_key="p"), b"k")
    assert first == session_key({}, {"prompt_cache_key": "p"}, b"k")
    assert first != session_key({}, {"prompt_cache_key": "q"}, b"k")
    assert session_key({}, turn(prompt_cache_key=7), b"k") == session_key({}, CHAT, b"k")


def test_a_conversation_keeps_its_key_while_it_grows() -> None:
    grown = turn({"role": "assistant", "content": "Done."}, {"role": "user", "content": "Thanks."})
    assert session_key({}, CHAT, b"k") == session_key({}, grown, b"k")


@pytest.mark.parametrize(
    "other",
    [
        {"messages": [{"role": "system", "content": "You are!"}, CHAT["messages"][1]]},
        {"messages": [CHAT["messages"][0], {"role": "user", "content": "Fix the bug!"}]},
        {"messages": [CHAT["messages"][0]]},
        {"messages": [CHAT["messages"][1]]},
        {"messages": None},
        {},
    ],
)
def test_another_beginning_is_another_session(other: dict[str, Any]) -> None:
    assert session_key({}, CHAT, b"k") != session_key({}, other, b"k")


def test_parts_count_like_texts() -> None:
    def parts(*texts: Any) -> dict[str, Any]:
        content = [{"type": "text", "text": text} for text in texts]
        return {"messages": [{"role": "user", "content": [*content, "no part", {"type": "image_url"}]}]}

    assert session_key({}, parts("a", "b"), b"") != session_key({}, parts("a", "c"), b"")
    assert session_key({}, parts(1), b"") == session_key({}, parts(), b"")


def test_long_texts_differ_by_their_ends_and_their_length() -> None:
    def said(text: str) -> int:
        return session_key({}, {"messages": ["junk", {"role": "user", "content": text}]}, b"")

    text = "x" * (MAX_HASHED * 4)
    assert len({said(text), said("y" + text[1:]), said(text[1:] + "y"), said(text + "x")}) == 4
    middle = MAX_HASHED * 2
    assert said(text) == said(text[:middle] + "y" + text[middle + 1 :])


def test_a_user_message_far_behind_is_not_looked_for() -> None:
    leading = [{"role": "assistant", "content": "x"}] * MAX_LEADING
    first = {"messages": [*leading, {"role": "user", "content": "a"}]}
    second = {"messages": [*leading, {"role": "user", "content": "b"}]}
    assert session_key({}, first, b"") == session_key({}, second, b"")


@given(st.recursive(st.none() | st.text() | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_request_has_a_key_of_62_bits(value: Any) -> None:
    for chat in ({"messages": value}, {"messages": [{"role": "user", "content": value}]}, {"prompt_cache_key": value}):
        assert 0 <= session_key({}, chat, b"k") < 1 << 62
