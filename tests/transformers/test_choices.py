from __future__ import annotations

from typing import Any

from tests.transformers.answers import choice, chunk, fed, whole

from moongate import BadUpstream, Failure
from moongate.transformers.choices import ChoiceEditingExchange, edit_choices


class Late:
    """Holds the last character of the text back."""

    def __init__(self) -> None:
        self.held = ""

    def feed(self, delta: dict[str, Any], finish_reason: object) -> tuple[dict[str, Any], object]:
        text = delta.get("content")
        if not text:
            return delta, finish_reason
        text, self.held = self.held + text[:-1], text[-1]
        return {**delta, "content": text}, "length" if finish_reason == "stop" else finish_reason

    def close(self) -> dict[str, Any]:
        held, self.held = self.held, ""
        return {"content": held} if held else {}


def exchange() -> ChoiceEditingExchange:
    return ChoiceEditingExchange({}, Late)


def test_what_is_held_back_leaves_at_the_end() -> None:
    items = fed(exchange(), [chunk({"content": "ab"}), chunk({"content": "cd"}, index=1), chunk({"content": "ef"})])
    assert choice(items)["message"]["content"] == "abef"
    assert choice(items, 1)["message"]["content"] == "cd"


def test_it_leaves_before_an_error() -> None:
    made = exchange()
    made.feed(chunk({"content": "ab"}))
    error = Failure(BadUpstream("gone"))
    rest, last = made.feed(error)
    assert rest.payload["choices"][0]["delta"] == {"content": "b"}  # type: ignore[union-attr]
    assert last is error
    assert made.close() == []


def test_a_whole_answer_is_one_delta() -> None:
    found = exchange().reply(whole({"role": "assistant", "content": "abc"}))["choices"][0]
    assert found == {"index": 0, "message": {"role": "assistant", "content": "abc"}, "finish_reason": "length"}
    assert exchange().reply(whole({"content": "a"}))["choices"][0]["message"] == {"content": "a"}


def test_what_is_no_choice_is_left_alone() -> None:
    for body in ({}, {"choices": None}, {"choices": [1]}, {"choices": [{"message": None}]}):
        assert exchange().reply(body) is body
    unchanged = chunk({"role": "assistant"})
    assert exchange().feed(unchanged) == (unchanged,)
    assert edit_choices({"choices": [{}, {"index": 7}]}, lambda _, index: {"at": index}) == {
        "choices": [{"at": 0}, {"at": 7}]
    }
