"""When may the next block begin?"""

from __future__ import annotations

import pytest

from moongate.dialects.block import Block


def test_text_is_done_whenever_something_else_comes() -> None:
    assert Block("text").done()
    assert Block("reasoning", pieces=["{"]).done()


@pytest.mark.parametrize(("pieces", "done"), [([], False), (['{"a"', ": 1"], False), (['{"a"', ": 1}"], True)])
def test_a_call_is_done_with_its_json(pieces: list[str], done: bool) -> None:
    block = Block("call", pieces=pieces)
    assert block.done() is done
    assert block.done() is done
