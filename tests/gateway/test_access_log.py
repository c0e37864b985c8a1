from __future__ import annotations

import json
import os

import pytest

from moongate.gateway.access_log import MAX_WAITING, AccessLog, Entry, json_line, style_for, text_line

ENTRY = Entry(
    when=1_700_000_000.25,
    id=b"req_1",
    client="laptop",
    front="chat",
    method="POST",
    path="/v1/chat/completions",
    asked="kimi",
    provider="p",
    model="m",
    status=200,
    streamed=True,
    first_byte=0.0123,
    duration=1.5,
    usage={"prompt_tokens": 7, "completion_tokens": 3},
    notes={"id": 2},
    attempts=1,
    error="",
)


def test_a_json_line() -> None:
    line = json_line(ENTRY)
    assert line.endswith(b"}\n")
    assert json.loads(line) == {
        "time": "2023-11-14T22:13:20.250Z",
        "id": "req_1",
        "client": "laptop",
        "front": "chat",
        "method": "POST",
        "path": "/v1/chat/completions",
        "asked": "kimi",
        "provider": "p",
        "model": "m",
        "status": 200,
        "stream": True,
        "first_byte_ms": 12.3,
        "duration_ms": 1500.0,
        "attempts": 1,
        "input_tokens": 7,
        "output_tokens": 3,
        "notes": {"id": 2},
    }


def test_a_line_with_an_error_and_bodies() -> None:
    entry = ENTRY._replace(error="it broke", bodies=("asked", "answered"), usage=None, first_byte=None, attempts=2)
    found = json.loads(json_line(entry))
    assert (found["error"], found["request"], found["answer"]) == ("it broke", "asked", "answered")
    text = text_line(entry).decode()
    assert text == (
        "22:13:20  200  POST /v1/chat/completions  p,m  1500 ms  id x2  2 attempts  req_1  it broke\n"
        "  > asked\n  < answered\n"
    )


def test_a_text_line_stays_one_line() -> None:
    entry = ENTRY._replace(provider="", asked="evil\nname\ud800", notes={})
    assert text_line(entry).decode() == (
        "22:13:20  200  POST /v1/chat/completions  evil name\\ud800  first 12 ms  1500 ms  7+3 tokens  req_1\n"
    )


def test_a_text_line_tells_the_terminal_nothing() -> None:
    entry = ENTRY._replace(path="/\x1b[2J\x07", error="\x9b31m red", bodies=("a\x1bb\nc", "d\x08"))
    line = text_line(entry).decode()
    assert "/\\x1b[2J\\x07" in line
    assert "\\x9b31m red" in line
    assert line.endswith("\n  > a\\x1bb\nc\n  < d\\x08\n")


@pytest.mark.parametrize(("status", "colour"), [(200, 32), (404, 33), (502, 31)])
def test_colour(status: int, colour: int) -> None:
    assert f"\033[{colour}m{status}\033[0m".encode() in text_line(ENTRY._replace(status=status), colour=True)


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


def test_a_reader_that_has_gone_stops_nothing() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    log = AccessLog(writing, style="text")
    log.add(ENTRY)
    log.flush()
    log.add(ENTRY)
    log.close()
    os.close(writing)


def test_lines_that_nobody_takes_are_dropped_and_counted() -> None:
    reading, writing = os.pipe()
    dropped: list[int] = []
    log = AccessLog(writing, style="json", dropped=dropped.append)
    for _ in range(MAX_WAITING):
        log.add(ENTRY)
    log.flush()
    log.add(ENTRY)
    log.flush()
    assert dropped == [1]
    os.close(reading)  # the writer wakes with an error and goes on
    log.close()
    os.close(writing)


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
