"""The commands of docs/simulator.md are sent to the simulator."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from moongate.sim.behaviours import behaviour_of, rows_of
from moongate.sim.responses import SimRequest
from moongate.sim.vendor import Vendor

PAGE = (Path(__file__).parent.parent.parent / "docs" / "simulator.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"curl http://127\.0\.0\.1:3999(\S+) .*?-d '(.*?)'\n", PAGE, re.DOTALL)


def test_the_page_has_commands() -> None:
    assert len(COMMANDS) == 2


@pytest.mark.parametrize(("path", "body"), COMMANDS)
def test_the_commands_are_answered(path: str, body: str) -> None:
    response = Vendor().answer(SimRequest("POST", path, {}, body.encode()))
    assert response.status == 200
    assert json.loads(b"".join(response.pieces))["choices"][0]["message"]["tool_calls"]


def test_every_name_and_row_of_the_page_is_known() -> None:
    for name in re.findall(r"`((?:kimi|moonshot)-[a-z0-9.-]+)`", PAGE):
        behaviour_of(name)
    for rows in re.findall(r"--play (\S+?)`|:3999/([a-z-]+)/v1|x-sim: ([a-z, -]+)`", PAGE):
        assert rows_of("".join(rows).replace(", ", "-"))
