"""One request to a Kimi model and its answer."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import (
    CALL,
    DONE,
    PARSING,
    REQUEST,
    answer,
    begin,
    call,
    calling,
    choices_of,
    chunk,
    deltas_of,
    entries_of,
    fed,
    reasons_of,
    tool,
)

from moongate.chat.items import Chunk, Done, Failure, Item, Opaque
from moongate.chat.verdict import ABORTED, CLEAN, FAILED
from moongate.errors import BadUpstream
from moongate.kimi.exchange import MAX_CHOICES

Row = dict[str, Any]


def only(items: Any) -> Item:
    (item,) = items
    assert isinstance(item, Chunk | Done | Opaque | Failure)
    return item


def payload_of(item: Item) -> Row:
    assert isinstance(item, Chunk)
    return item.payload


# Whole answers


def test_choices_beyond_a_limit_pass_as_they_came() -> None:
    whole = [{"index": at, "message": {"tool_calls": [call("a")]}} for at in range(MAX_CHOICES + 2)]
    left = begin().reply({"choices": whole})["choices"]
    assert [one is other for one, other in zip(left, whole, strict=True)] == [False] * MAX_CHOICES + [True] * 2
    exchange = begin()
    deltas = [{"index": at, "delta": {"content": "a"}} for at in range(MAX_CHOICES + 2)]
    exchange.feed(Chunk.of({"choices": deltas}))
    assert payload_of(only(exchange.feed(Chunk.of({"choices": deltas[-1:]}))))["choices"] == deltas[-1:]
    ends = [choice["index"] for item in exchange.feed(Done()) for choice in choices_of([item])]
    assert ends == list(range(MAX_CHOICES))


def test_a_reply_that_breaks_no_rule_is_the_same_object() -> None:
    for body in (answer({"content": "Hi"}), {"choices": None}, {"choices": [None]}, {}):
        exchange = begin()
        assert exchange.reply(body) is body
        assert list(exchange.notes) == []


def test_choices_of_a_reply_are_counted_each_on_its_own() -> None:
    body = {
        "x": 1,
        "choices": [
            {"index": 0, "message": {"tool_calls": [call("a")]}, "finish_reason": "tool_calls"},
            "odd",
            {"index": 1, "message": {"tool_calls": [call("b")]}, "finish_reason": "tool_calls"},
        ],
        "usage": {"cached_tokens": 1},
    }
    left = begin().reply(body)
    assert [each["message"]["tool_calls"][0]["id"] for each in (left["choices"][0], left["choices"][2])] == [
        "functions.bash:0",
        "functions.bash:0",
    ]
    assert (left["x"], left["choices"][1]) == (1, "odd")
    assert left["usage"]["prompt_tokens_details"] == {"cached_tokens": 1}


# Streams


def test_items_that_break_no_rule_are_the_same_objects() -> None:
    exchange = begin()
    for item in (
        Opaque(b": ping\n\n"),
        chunk({"role": "assistant"}),
        Chunk({"choices": []}, b"raw"),
        Chunk({"choices": None}, b"raw"),
        Chunk({"choices": ["odd"]}, b"raw"),
        Chunk({"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {}}]}, b"raw"),
        chunk({}, "stop"),
        chunk({}, "stop", index=1),
        DONE,
    ):
        assert only(exchange.feed(item)) is item
    assert exchange.close() == ()


def test_a_changed_chunk_keeps_its_envelope() -> None:
    left = payload_of(only(begin().feed(calling({"index": 0, **call("x", "bash", "")}))))
    assert left["id"] == "c"
    assert entries_of([Chunk.of(left)])[0]["id"] == "functions.bash:0"


def test_usage_is_lifted_in_chunks() -> None:
    left = payload_of(only(begin().feed(chunk({"content": "a"}, "stop", usage={"cached_tokens": 2}))))
    assert left["usage"] == {"cached_tokens": 2, "prompt_tokens_details": {"cached_tokens": 2}}
    assert "usage" not in left["choices"][0]
    two = Chunk({"choices": [{"index": 0, "delta": {}, "usage": {"a": 1}}, {"index": 1, "delta": {}}]}, b"raw")
    assert payload_of(only(begin().feed(two)))["usage"] == {"a": 1}


def test_a_chunk_that_becomes_several_tells_its_usage_once() -> None:
    exchange = begin(PARSING)
    item = chunk({"content": "a" + CALL.format("functions.bash:0", "{}")}, "stop")
    item.payload["usage"] = {"total_tokens": 1}
    left = fed(exchange, item)
    assert [payload_of(each).get("usage") for each in left] == [None, None, None, {"total_tokens": 1}]


def test_a_chunk_of_which_nothing_is_left_is_dropped_unless_it_says_more() -> None:
    exchange = begin(PARSING)
    assert exchange.feed(chunk({"content": "<"})) == ()
    held = chunk({"content": "|"})
    held.payload["usage"] = {"total_tokens": 1}
    assert payload_of(only(exchange.feed(held))) == {**held.payload, "choices": []}
    traced = chunk({"content": "t"})
    traced.payload["x_trace"] = None
    assert exchange.feed(traced) == ()


def test_a_call_whose_name_might_have_gone_on_leaves_with_its_own_bytes() -> None:
    request = {**REQUEST, "tools": [*REQUEST["tools"], tool("read_file", "path")]}
    begun = [calling(call(f"functions.read:{at}", "read", "", index=at)) for at in range(2)]
    more = calling({"index": 1, "function": {"arguments": "{}"}})
    exchange = begin(request=request)
    assert [list(exchange.feed(each)) for each in (*begun, more)] == [[], [begun[0]], [begun[1], more]]
    exchange = begin(request=request)
    begun[0].payload["usage"] = {"total_tokens": 1}  # it was told at once
    left = [payload_of(each) for each in fed(exchange, begun[0], begun[1], more)]
    assert [each.get("usage") for each in left] == [{"total_tokens": 1}, None, None, None]


def test_choices_of_one_chunk() -> None:
    exchange = begin(PARSING)
    both = Chunk(
        {"choices": [{"index": 0, "delta": {"content": "a<"}}, {"index": 1, "delta": {"content": "b"}}]}, b"raw"
    )
    assert [each["delta"] for each in choices_of(fed(exchange, both))] == [{"content": "a"}, {"content": "b"}]
    held = Chunk(
        {"choices": [{"index": 0, "delta": {"content": "<"}}, {"index": 1, "delta": {"content": "c"}}]}, b"raw"
    )
    left = fed(begin(PARSING), held)
    assert [len(payload_of(each)["choices"]) for each in left] == [1]


def test_done_brings_what_is_missing_in_the_streams_envelope() -> None:
    exchange = begin()
    fed(exchange, chunk({"content": "a"}), calling({"index": 0, **call()}))
    *made, done = exchange.feed(DONE)
    assert done is DONE
    assert [payload_of(each) for each in made] == [
        {"id": "c", "model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    ]


def test_a_finish_reason_that_is_added_repeats_the_usage() -> None:
    exchange = begin()
    fed(exchange, chunk({"content": "a"}), Chunk({"choices": [], "usage": {"total_tokens": 1}}, b"raw"))
    made = exchange.feed(DONE)[0]
    assert payload_of(made)["usage"] == {"total_tokens": 1}


def test_a_failure_brings_what_waits_and_no_finish_reason() -> None:
    exchange = begin(PARSING)
    fed(exchange, chunk({"content": "a<"}))
    failure = Failure(BadUpstream("cut"))
    left = exchange.feed(failure)
    assert deltas_of(list(left[:-1])) == [{"content": "<"}]
    assert left[-1] is failure
    assert exchange.close() == ()


def test_the_end_without_done() -> None:
    whole = begin()
    fed(whole, chunk({"content": "a"}, "stop"))
    assert list(whole.close()) == [Done()]
    for items in ([], [chunk({"content": "a"})], [chunk({}, "stop"), chunk({}, index=1)]):
        broken = begin()
        fed(broken, *items)
        left = broken.close()
        assert isinstance(left[-1], Failure)
        assert reasons_of(list(left)) == []


@pytest.mark.parametrize("usage", ["much", 3, [1], {"total_tokens": 1}])
def test_choices_and_usage_of_any_type_pass(usage: object) -> None:
    exchange = begin(PARSING)
    text = {"index": 0, "delta": {"content": "<|"}}  # it waits
    left = [*exchange.feed(Chunk.of({"choices": [None, 5, text], "usage": usage})), *exchange.feed(Done())]
    payloads = [each.payload for each in left if isinstance(each, Chunk)]
    assert [each["choices"] for each in payloads[:2]] == [[None], [5]]
    assert payloads[-1]["usage"] == usage


def test_the_verdict_of_an_answer_that_is_over() -> None:
    exchange = begin()
    assert exchange.verdict == ABORTED
    exchange.reply(answer({"content": "a"}))
    assert exchange.verdict == CLEAN
    for end, verdict in ((DONE, CLEAN), (Failure(BadUpstream("cut")), FAILED)):
        exchange = begin()
        fed(exchange, chunk({"content": "a"}, "stop"), end)
        assert exchange.verdict == verdict
    exchange = begin()
    fed(exchange, chunk({"content": "a"}))
    exchange.close()
    assert exchange.verdict == FAILED


def test_an_answer_whose_finish_reason_is_left_alone_is_judged_too() -> None:
    options = {"enforceFinishReasonLoop": False, "repairOnMismatch": False}
    exchange = begin(options)
    entry = {"index": 0, "id": "x", "type": "function", "function": {"name": "rm", "arguments": "{"}}
    fed(exchange, calling(entry), DONE)
    assert exchange.verdict.kinds == ("invalid_json", "unknown_tool")
    exchange = begin(options)
    exchange.reply(answer({"tool_calls": [call(name="rm")]}, reason=7))
    assert exchange.verdict.kinds == ("unknown_tool",)


def test_an_answer_needs_no_request_any_more() -> None:
    def streamed(*, forgets: bool) -> list[Row]:
        exchange = begin(PARSING)
        if forgets:
            exchange.request = {}
        return choices_of(fed(exchange, chunk({"content": CALL}), chunk({}, "stop"), DONE))

    assert streamed(forgets=True) == streamed(forgets=False)


def test_there_is_no_other_try() -> None:
    exchange = begin()
    assert exchange.next_request() is None
    assert list(exchange.settle()) == []
    assert list(exchange.replaced) == []


def test_calls_are_checked_against_their_schemas_only_on_demand() -> None:
    exchange = begin()
    assert exchange.schema_check() is None
    exchange.reply(answer({"tool_calls": [call(arguments='{"command":7}')]}, "tool_calls"))
    assert exchange.verdict == CLEAN
    check = exchange.schema_check()
    assert check is not None
    assert check().kinds == ("schema_mismatch",)
