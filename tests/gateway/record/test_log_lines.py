from __future__ import annotations

import json

import pytest

from moongate.chat.verdict import Verdict
from moongate.gateway.http.verdict_recorder import JudgedAnswer
from moongate.gateway.record.log_lines import FIELDS, Entry, json_line, missing_json, missing_text, text_line
from moongate.gateway.routing.selector import RouteReport

ENTRY = Entry(
    when=1_700_000_000.25,
    id=b"req_1",
    client="laptop",
    front="chat",
    method="POST",
    path="/v1/chat/completions",
    requested="kimi",
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
        "22:13:20  200  laptop  POST /v1/chat/completions  p,m  1500 ms  id x2  2 attempts  req_1  it broke\n"
        "  > asked\n  < answered\n"
    )


def test_a_text_line_stays_one_line() -> None:
    entry = ENTRY._replace(provider="", requested="evil\nname\ud800", notes={})
    assert text_line(entry).decode() == (
        "22:13:20  200  laptop  POST /v1/chat/completions  evil name\\ud800  first 12 ms  1500 ms  7+3 tokens  req_1\n"
    )


def test_control_characters_are_escaped_in_a_text_line() -> None:
    entry = ENTRY._replace(path="/\x1b[2J\x07", error="\x9b31m red", bodies=("a\x1bb\nc", "d\x08"))
    line = text_line(entry).decode()
    assert "/\\x1b[2J\\x07" in line
    assert "\\x9b31m red" in line
    assert line.endswith("\n  > a\\x1bb\nc\n  < d\\x08\n")


@pytest.mark.parametrize(("status", "colour"), [(200, 32), (404, 33), (502, 31)])
def test_colour(status: int, colour: int) -> None:
    assert f"\033[{colour}m{status}\033[0m".encode() in text_line(ENTRY._replace(status=status), colour=True)


def test_a_text_line_without_a_client() -> None:
    assert text_line(ENTRY._replace(client="")).startswith(b"22:13:20  200  -  POST ")


def test_every_field_is_described_in_its_order() -> None:
    full = ENTRY._replace(error="it broke", bodies=("asked", "answered"), cost=5, route=ROUTE, judged=DAMAGED)
    assert [*json.loads(json_line(full)), "lost_lines"] == list(FIELDS)
    assert set(json.loads(missing_json(3))) == {"time", "lost_lines"}


ROUTE = RouteReport((b"x-moongate-route", b"kimi"), b'"route":{"name":"kimi"}', "kimi (price)", 0)


DAMAGED = JudgedAnswer(Verdict("damaged", ("invalid_json", "unknown_tool")), tries=3)


def test_what_an_answer_was_worth() -> None:
    line = json.loads(json_line(ENTRY._replace(judged=DAMAGED)))
    assert (line["worth"], line["damage"]) == ("damaged", ["invalid_json", "unknown_tool"])
    line = json.loads(json_line(ENTRY._replace(judged=JudgedAnswer(Verdict("clean")), notes={})))
    assert (line["worth"], "damage" in line) == ("clean", False)
    assert b"damaged invalid_json unknown_tool" in text_line(ENTRY._replace(judged=DAMAGED))
    assert b"clean" not in text_line(ENTRY._replace(judged=JudgedAnswer(Verdict("clean"))))


def test_cost_and_route() -> None:
    for notes in ({}, {"id": 2}):
        line = json.loads(json_line(ENTRY._replace(cost=1234, route=ROUTE, notes=notes)))
        assert (line["cost_usd"], line["route"]) == (0.001234, {"name": "kimi"})
        assert "cost_usd" not in json.loads(json_line(ENTRY._replace(notes=notes)))
    assert b"7+3 tokens  $0.001234  kimi (price)" in text_line(ENTRY._replace(cost=1234, route=ROUTE, notes={}))


def test_lost_lines_are_mentioned() -> None:
    assert json.loads(missing_json(3))["lost_lines"] == 3
    assert missing_text(3).endswith(b"  3 lines of the log were lost\n")
