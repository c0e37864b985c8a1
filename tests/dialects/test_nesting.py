from __future__ import annotations

import pytest

from moongate.dialects.nesting import Nesting


@pytest.mark.parametrize(
    ("pieces", "complete"),
    [
        (['{"a":1}'], True),
        (['{"a":[{}]}'], True),
        (['{"a":"}"'], False),
        (['{"a":"}"', "}"], True),
        (['{"a":"\\', '"}"', "}"], True),
        (['{"a":"\\\\"}'], True),
        ([""], False),
        (["", "  "], False),
        (["[1,", "2", "]"], True),
        (["\\{", "}"], True),
        (["{}", "{"], True),
    ],
)
def test_the_end_of_the_outermost_bracket_completes(pieces: list[str], complete: bool) -> None:
    nesting = Nesting()
    for piece in pieces:
        nesting.feed(piece)
    assert nesting.complete is complete
