"""What is wrong with the events of a stream."""

from __future__ import annotations

from typing import Any

import pytest

from moongate.chat.items import Chunk, Done, Item
from moongate.verify.stream_watch import StreamWatch


def _chunk(delta: Any = None, finish: str | None = None, **more: Any) -> Chunk:
    return Chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": finish, **more}]})


def _call(**parts: Any) -> dict[str, Any]:
    return {"tool_calls": [parts]}


END: list[Item] = [_chunk({}, "stop"), Chunk({"choices": [], "usage": {"total_tokens": 1}}), Done()]


@pytest.mark.parametrize(
    ("items", "faults"),
    [
        ([_chunk({"content": "a"}), *END], ()),
        ([_chunk({"content": "a"}), *END[:2]], ("no_done",)),
        ([_chunk({"content": "a"}), *END[1:]], ("no_finish",)),
        ([_chunk({"content": "a"}), END[0], END[2]], ("no_usage",)),
        ([_chunk({"content": "a"}, usage={"total_tokens": 1}), *END], ()),  # Moonshot's, in both places
        ([_chunk({"content": "a"}, "stop", usage={"total_tokens": 1}), END[2]], ("usage_in_choice",)),
        ([END[0], _chunk({"content": "a"}), *END[1:]], ("text_after_finish",)),
        ([_chunk(_call(id="a")), *END], ("no_call_index",)),
        ([_chunk(_call(index=0)), *END], ("no_call_id",)),
        ([_chunk(_call(index=0, id="a")), _chunk(_call(index=0, id="b")), *END], ("changed_call_id",)),
        ([_chunk(_call(index=0, id="a")), _chunk(_call(index=0)), *END], ()),
        ([Chunk({"choices": [1]}), _chunk({"tool_calls": [1, 2]}), _chunk("odd"), *END], ()),
        ([Chunk({"choices": "odd"}), *END], ()),
    ],
)
def test_faults(items: list[Item], faults: tuple[str, ...]) -> None:
    watch = StreamWatch(usage_due=True)
    for item in items:
        watch.see(item)
    assert watch.faults() == faults
    assert watch.began


def test_usage_that_was_not_asked_for_is_not_missed() -> None:
    watch = StreamWatch(usage_due=False)
    assert not watch.began
    for item in (_chunk({"content": "a"}, "stop"), Done()):
        watch.see(item)
    assert watch.faults() == ()
