from __future__ import annotations

from moongate.kimi.schema.detail import MAX_LEVELS, Detail
from moongate.kimi.schema.keywords import MAX_DEPTH


def test_all_detail_is_the_default() -> None:
    assert Detail() == Detail(depth=MAX_DEPTH, levels=MAX_LEVELS, copies=True, references=True)
