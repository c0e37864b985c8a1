"""The chunks of a guarded stream."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import begin as begin_kimi
from tests.kimi.answering import chunk
from tests.kimi.guard.guarding import DAMAGED, MENDABLE, REQUEST, VALID, read_call, shown, streamed

from moongate.chat.items import Chunk, Item
from moongate.kimi.exchange import MAX_CHOICES
from moongate.kimi.guard.answer import GuardedAnswer
from moongate.kimi.guard.calls import CallGuard
from moongate.kimi.guard.held_calls import MAX_HELD_CHARS
from moongate.kimi.guard.stream import GuardedStream
from moongate.kimi.guard.tool_schemas import ToolSchemas

Row = dict[str, Any]
MENDED = '{"path":"a","limit":5}'


def guarded() -> GuardedAnswer:
    return GuardedAnswer(begin_kimi(None, REQUEST), CallGuard(REQUEST, ToolSchemas(), None))


def stream(*, holds_finish: bool) -> tuple[GuardedStream, GuardedAnswer]:
    answer = guarded()
    return GuardedStream(answer, holds_finish=holds_finish), answer


def fed(found: GuardedStream, items: list[Item]) -> list[Item]:
    return [left for item in items if isinstance(item, Chunk) for left in found.feed(item)]


def several(*choices: Any, **more: Any) -> Chunk:
    return Chunk({"id": "c", "choices": list(choices), **more}, b"raw")


def choice(delta: Any, index: int = 0, reason: str | None = None) -> Row:
    return {"index": index, "delta": delta, "finish_reason": reason}


def entry(arguments: str, index: int = 0, **more: Any) -> Row:
    return {"index": index, "function": {"arguments": arguments}, **more}


def test_text_flows_as_it_comes() -> None:
    for holds_finish in (True, False):
        found, answer = stream(holds_finish=holds_finish)
        for item in (chunk({"content": "a"}), chunk({"reasoning": "b"}), several("odd"), several(choice(None))):
            assert found.feed(item) == [item]
        assert answer.choice(0).texts == ({"content": ["a"], "reasoning": ["b"]} if holds_finish else {})


def test_calls_are_released_one_by_one_where_only_arguments_wait() -> None:
    found, _ = stream(holds_finish=False)
    items = streamed(read_call(MENDABLE), read_call(VALID, 1))
    left = fed(found, items[:3])
    assert left == []
    left = fed(found, items[3:4])
    assert shown(left)[1] == [("functions.read:0", "read", MENDED)]
    rest = fed(found, items[4:])
    assert shown(rest)[2] == ["tool_calls"]


def test_calls_and_finish_wait_for_the_end_of_the_answer() -> None:
    found, answer = stream(holds_finish=True)
    assert fed(found, streamed(read_call())) == []
    usage = Chunk({"id": "c", "choices": [], "usage": {"prompt_tokens": 1}}, b"raw")
    assert found.feed(usage) == []
    assert answer.usage == {"prompt_tokens": 1}
    assert answer.choice(0).reason == "tool_calls"
    assert len(answer.release()) == 5


def test_a_chunk_without_choices_flows_before_the_finish() -> None:
    found, _ = stream(holds_finish=True)
    item = Chunk({"id": "c", "choices": []}, b"raw")
    assert found.feed(item) == [item]
    odd = Chunk({"id": "c", "choices": None}, b"raw")
    assert found.feed(odd) == [odd]


def test_text_leaves_before_the_calls_of_its_chunk() -> None:
    found, answer = stream(holds_finish=True)
    delta = {"role": "assistant", "content": "So.", "tool_calls": [entry(VALID, id="x")]}
    left = found.feed(several(choice(delta, reason="tool_calls"), usage={"prompt_tokens": 1}))
    (only,) = left
    assert only.payload["choices"] == [choice({"role": "assistant", "content": "So."})]
    assert "usage" not in only.payload
    calls, finish = answer.release()
    assert calls.payload["choices"] == [choice({"tool_calls": [entry(VALID, id="x")]})]
    assert "usage" not in calls.payload
    assert finish.payload["choices"] == [choice({}, reason="tool_calls")]
    assert finish.payload["usage"] == {"prompt_tokens": 1}


def test_a_chunk_with_several_choices_is_divided_where_one_waits() -> None:
    found, answer = stream(holds_finish=True)
    texts = several(choice({"content": "a"}), choice({"content": "b"}, 1))
    assert found.feed(texts) == [texts]
    mixed = several(choice({"content": "c"}), choice({"tool_calls": [entry(VALID, id="x")]}, 1), usage={"n": 1})
    (left,) = found.feed(mixed)
    assert left.payload["choices"] == [choice({"content": "c"})]
    assert "usage" not in left.payload
    (held,) = answer.release()
    assert held.payload["choices"][0]["index"] == 1
    assert answer.choice(1).texts == {"content": ["b"]}


def test_too_many_arguments_flow_and_no_other_try_can_be_made() -> None:
    found, _ = stream(holds_finish=True)
    assert not found.is_flowing
    big = several(choice({"tool_calls": [entry("x" * (MAX_HELD_CHARS + 1), id="x")]}))
    assert found.feed(big) == [big]
    assert found.is_flowing
    end = several(choice({}, reason="tool_calls"))
    assert found.feed(end) == [end]


@pytest.mark.parametrize(("arguments", "wanted"), [(MENDABLE, MENDED), (DAMAGED, DAMAGED)])
def test_a_summary_is_that_of_the_calls_that_leave(arguments: str, wanted: str) -> None:
    found, answer = stream(holds_finish=False)
    fed(found, streamed(read_call(arguments))[:-1])
    answer.end_stream()
    message = {"role": "assistant", "content": None, "tool_calls": [read_call(arguments)]}
    finish = several({**choice({}, reason="tool_calls"), "message": message})
    *_, last = found.feed(finish)
    assert last.payload["choices"][0]["message"]["tool_calls"] == [read_call(wanted)]


def test_a_further_try_goes_on_in_the_same_stream() -> None:
    found, answer = stream(holds_finish=True)
    for item in (chunk({"content": "a"}), chunk({"tool_calls": [entry(DAMAGED, id="x")]})):
        for made in answer.exchange.feed(item):
            found.feed(made)  # type: ignore[arg-type]
    found.begin_try(guarded())
    other = Chunk({"id": "other", "model": "m2", "choices": [choice({"role": "assistant", "content": ""})]}, b"raw")
    (first,) = found.feed(other)
    assert (first.payload["id"], first.payload["model"]) == ("c", "m")
    assert first.payload["choices"] == [choice({"content": ""})]
    texts = [found.feed(Chunk({"id": "other", "choices": [choice({"content": text})]}))[0] for text in ("b", "c")]
    assert [text.payload["choices"][0]["delta"]["content"] for text in texts] == ["\n\nb", "c"]
    odd = [Chunk({"id": "other", "choices": each}) for each in (["x"], None, [choice(None)])]
    assert [each.payload["choices"] for each in found.continued(odd)] == [["x"], None, [choice(None)]]
    whole = found.continued([Chunk({"id": "other", "choices": [choice({"content": "d"})]})], is_new=True)
    assert whole[0].payload["choices"][0]["delta"]["content"] == "\n\nd"


def test_the_first_text_of_all_tries_needs_no_blank_line() -> None:
    found, _ = stream(holds_finish=True)
    fed(found, streamed(read_call(DAMAGED)))
    found.begin_try(guarded())
    (left,) = found.feed(chunk({"content": "a"}))
    assert left.payload["choices"][0]["delta"] == {"content": "a"}


def test_choices_beyond_a_limit_pass_as_they_came() -> None:
    found, answer = stream(holds_finish=True)
    texts = [choice({"content": "a"}, at) for at in range(MAX_CHOICES + 2)]
    chunk_of_all = several(*texts)
    assert found.feed(chunk_of_all) == [chunk_of_all]
    ended = several(choice({}, MAX_CHOICES, "stop"))
    assert found.feed(ended) == [ended]
    assert len(answer.choices) == MAX_CHOICES
    whole = [{"index": at, "message": {"tool_calls": [{"function": {"name": "x"}}]}} for at in range(MAX_CHOICES + 1)]
    assert guarded().read_whole({"choices": whole})["choices"][-1] is whole[-1]
