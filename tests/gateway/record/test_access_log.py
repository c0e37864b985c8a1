from __future__ import annotations

import json
import os

import pytest
from tests.gateway.record.test_log_lines import ENTRY

from moongate.gateway.record.access_log import AccessLog, style_for


def test_lines_come_out_in_order() -> None:
    reading, writing = os.pipe()
    log = AccessLog(writing, style="json")
    for number in range(3):
        log.add(ENTRY._replace(id=b"%d" % number))
    log.flush()
    log.add(ENTRY._replace(id=b"3"))
    log.close()
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert [json.loads(line)["id"] for line in file] == ["0", "1", "2", "3"]


def test_nothing_is_written_when_it_is_off() -> None:
    log = AccessLog(-1, style="off")
    log.add(ENTRY)
    log.close()


def test_a_closed_pipe_does_not_stop_the_gateway() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    log = AccessLog(writing, style="text")
    log.add(ENTRY)
    log.flush()
    log.add(ENTRY)
    log.close()
    os.close(writing)


def test_lost_lines_are_counted_in_the_event_loop() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    dropped: list[int] = []
    warnings: list[str] = []
    log = AccessLog(writing, style="json", dropped=dropped.append, warn=warnings.append)
    log.add(ENTRY)
    log.add(ENTRY)
    log.close()
    os.close(writing)
    assert dropped == [2]
    assert warnings == ["the access log cannot be written: Broken pipe; its lines are lost until it can"]


@pytest.mark.parametrize(
    ("environ", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, False), ({"TERM": "dumb"}, False)],
)
def test_colour_only_if_the_environment_allows_it(environ: dict[str, str], coloured: bool) -> None:
    ours, theirs = os.openpty()
    log = AccessLog(theirs, style="text", environ=environ)
    log.add(ENTRY)
    log.close()
    assert (b"\033[" in os.read(ours, 4096)) is coloured
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(("setting", "style"), [("auto", "json"), ("text", "text"), ("off", "off")])
def test_styles(setting: str, style: str) -> None:
    reading, writing = os.pipe()
    assert style_for(setting, writing) == style
    os.close(reading)
    os.close(writing)


def test_a_terminal_gets_text() -> None:
    ours, theirs = os.openpty()
    assert style_for("auto", theirs) == "text"
    os.close(ours)
    os.close(theirs)
