"""When the next block may begin."""

from __future__ import annotations

import pytest

from moongate.dialects.blocks import Block


def test_text_may_end_at_any_time() -> None:
    assert Block("text").done()
    assert Block("reasoning").done()


@pytest.mark.parametrize(("pieces", "done"), [([], False), (['{"a"', ": 1"], False), (['{"a"', ": 1}"], True)])
def test_a_call_ends_with_its_json(pieces: list[str], done: bool) -> None:
    block = Block("call")
    block.pieces = pieces
    assert block.done() is done
    assert block.done() is done
