"""`moongate logs`: what the gateway logs as JSON is shown as the gateway would log it as text."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.sample import run
from tests.cli.served import ASK, CLIENT, PATH, config, serving, write
from tests.gateway.scripted import Scripted
from tests.gateway.ui.running import play
from tests.support.background import Background
from tests.support.http import post

from moongate.chat.verdict import Verdict
from moongate.cli.log_reader import entry_of
from moongate.gateway.http.verdict_recorder import JudgedAnswer
from moongate.gateway.record.log_lines import Entry, json_line, text_line
from moongate.gateway.routing.selector import RouteReport
from moongate.payload import object_of

NOW = time.time()
ENTRY = Entry(
    *(NOW - 60, b"req_1", "anna", "chat", "POST", "/v1/chat/completions", "kimi", "moonshot", "kimi-k2.6", 200, True),
    *(0.31, 2.5, {"prompt_tokens": 812, "completion_tokens": 64}, {"id": 1}, 1, ""),
)
ROUTE = RouteReport((b"", b""), b'"route":{"name":"best","reason":"score"}', "best (score)", 0)
ENTRIES = [
    ENTRY,
    ENTRY._replace(id=b"req_2", client="ben", status=502, error="p: it broke", notes={}, attempts=3, duration=9.0),
    ENTRY._replace(id=b"req_3", front="messages", judged=JudgedAnswer(Verdict("damaged", ("leaked",))), cost=2500),
    ENTRY._replace(id=b"req_4", when=NOW - 90_000, route=ROUTE, usage=None, first_byte=None, model="kimi-k3"),
    ENTRY._replace(id=b"req_5", provider="other", bodies=("{\x1b[31m}", "data: x\n")),
]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "moongate.log"
    path.write_bytes(b"".join(map(json_line, ENTRIES)))
    return str(path)


def ids(text: str) -> list[str]:
    return [word for word in text.split() if word.startswith("req_")]


def test_lines_look_as_the_gateway_writes_them(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["logs", file]) == 0
    shown = capsys.readouterr().out
    assert shown == b"".join(map(text_line, ENTRIES)).decode()
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--status", "5xx"], "req_2"),
        (["--status", "502"], "req_2"),
        (["--key", "ben"], "req_2"),
        (["--worth", "damaged"], "req_3"),
        (["--front", "messages"], "req_3"),
        (["--model", "kimi-k3"], "req_4"),
        (["--provider", "other"], "req_5"),
        (["--repair", "id", "--front", "messages"], "req_3"),
        (["--slower", "5000"], "req_2"),
        (["--id", "_4"], "req_4"),
        (["--since", "1h"], "req_1 req_2 req_3 req_5"),
        (["--since", "1h", "--status", "ok", "--provider", "moonshot"], "req_1 req_3"),
    ],
)
def test_filters(file: str, options: list[str], found: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["logs", file, *options]) == 0
    assert ids(capsys.readouterr().out) == found.split()


def test_lines_can_stay_json(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["logs", file, "--status", "5xx", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == "req_2"


def test_other_lines_are_shown_without_their_controls_and_not_filtered_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mixed.log"
    file.write_bytes(
        b'moongate: hello \x1b[31m\n{"time":"2026-11-18T00:00:00Z","lost_lines":7}\n{"a":1}\n\xff\n' + json_line(ENTRY)
    )
    assert run(["logs", str(file)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "moongate: hello \\x1b[31m"
    assert shown[1].endswith("7 lines of the log were lost")
    assert shown[2] == '{"a":1}'
    assert ids(shown[4]) == ["req_1"]
    assert run(["logs", str(file), "--status", "ok"]) == 0
    assert ids(capsys.readouterr().out) == ["req_1"]


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json_line(ENTRY))))
    assert run(["logs", "-"]) == 0
    assert ids(capsys.readouterr().out) == ["req_1"]


def test_what_is_wrong_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["logs", str(tmp_path / "none.log")]) == 2
    assert "none.log: cannot be read: No such file or directory" in capsys.readouterr().err
    assert run(["logs", "-", "--since", "yesterday"]) == 2
    assert "--since: expected a time like 30s" in capsys.readouterr().err
    assert run(["logs", "-", "--status", "9xx"]) == 2
    assert "--status: expected a status: 429, ok, 4xx or 5xx" in capsys.readouterr().err
    for option, word in (("--worth", "broken"), ("--front", "chta")):
        with pytest.raises(SystemExit):
            run(["logs", "-", option, word])
        assert f"{option}: invalid choice: '{word}'" in capsys.readouterr().err


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
FIELDS = ("time", "id", "status", "client", "notes", "route", "damage", "worth", "cost_usd", "input_tokens", "attempts")


@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_any_line_is_survived(line: dict[str, Any]) -> None:
    whole = {"time": "2026-11-18T00:00:00.000Z", "id": "x", "status": 200, **line}
    entry = entry_of(whole)
    assert entry is None or text_line(entry).endswith(b"\n")


def test_the_log_of_a_real_gateway(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Background() as background:
        write(tmp_path, config(background.start(Scripted(play).start())))
        with serving(tmp_path) as served:
            post(served.root() + PATH, ASK, key=CLIENT)
            served.find('"path":"/v1/chat/completions"')
    file = tmp_path / "out.txt"
    assert object_of(file.read_bytes().splitlines()[0]) is not None
    assert run(["logs", str(file), "--status", "ok"]) == 0
    assert "POST /v1/chat/completions  p,m  first " in capsys.readouterr().out
