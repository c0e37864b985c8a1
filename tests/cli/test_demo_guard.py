"""`moongate demo guard`."""

from __future__ import annotations

import pytest

from moongate.cli.demo_guard import GuardedRun, play, show
from moongate.cli.terminal import Colours


def test_the_guard_leaves_no_damaged_turn(capsys: pytest.CaptureFixture[str]) -> None:
    assert show(Colours()) == 0
    out = capsys.readouterr().out
    assert "0 damaged turns" in out
    assert "every call is valid" in out
    assert "became" in out


def test_mending_alone_leaves_some() -> None:
    run = play("repair", 40)
    assert run.damaged > 0
    assert run.requests == 40
    assert GuardedRun().requests == 0
