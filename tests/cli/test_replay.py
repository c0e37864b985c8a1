"""`moongate replay` as a user runs it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from tests.cli.sample import run, write
from tests.gateway.scripted import DONE, chunk

from moongate.cli.replay import USE

pytestmark = pytest.mark.usefixtures("folder")


RECORDED = chunk("Hel") + b": comment\n\n" + chunk("lo.", "stop") + DONE


CALLED = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function",'
    b'"function":{"name":"f","arguments":"{}"}}]}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


def test_replay_shows_input_output_and_notes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("body.sse").write_bytes(CALLED)
    assert run(["replay", "body.sse", "--wide"]) == 0
    shown = capsys.readouterr().out
    assert '"id":"call_1"' in shown
    assert '"id":"functions.f:0"' in shown
    assert '"call_1" → "functions.f:0"' in shown
    assert "finish_reason" in shown
    assert "[DONE]" in shown


@pytest.mark.parametrize(
    ("body", "code", "marks"),
    [
        (RECORDED, 0, ["Hel", ": comment", "[DONE]"]),
        (chunk("Hel"), 1, ["without [DONE]"]),
        (chunk("Hel", "stop"), 0, ["complete"]),  # as the gateway sees it: every choice has finished
        (b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}', 0, ["unchanged"]),
        (b'{"choices":[{"message":{"tool_calls":[{"id":"x","function":{"name":"f"}}]}}]}', 0, ["functions.f:0"]),
        (b'{"error":{"message":"no","code":429}}', 1, ["UpstreamRefused 429: no"]),
        (b'data: {"error":{"message":"no","code":429}}\n\n', 1, ["error 429: no"]),
        (b"<html>", 1, ["no answer at all"]),
        (b"", 1, ["no answer at all"]),
        (b'{"hello": 1}', 1, ["has no choices", "no answer at all"]),
        (b'{"hello": 1}\n{"hello": 2}\n', 1, ["no answer at all"]),
        (b'data: {"hello": 1}\n\ndata: [DONE]\n\n', 1, ["no answer at all"]),
    ],
)
def test_replay_of_other_bodies(body: bytes, code: int, marks: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("body").write_bytes(body)
    assert run(["replay", "body"]) == code
    shown = capsys.readouterr().out
    assert [mark for mark in marks if mark not in shown] == []


@pytest.mark.parametrize(
    ("body", "summary"),
    [
        (CALLED, '3 events in, 3 out; 1 call; finish_reason "tool_calls"; 2 repairs: id, finish_reason; complete'),
        (RECORDED, '4 events in, 4 out; 0 calls; finish_reason "stop"; 0 repairs; complete'),
        (chunk("Hel"), "1 event in, 2 out; 0 calls; finish_reason none; 0 repairs; incomplete"),
        (
            b'{"error":{"message":"no","code":429}}',
            "0 events in, 0 out; 0 calls; finish_reason none; 0 repairs; error 429: no",
        ),
    ],
)
def test_replay_ends_with_a_summary(body: bytes, summary: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("body").write_bytes(body)
    run(["replay", "body"])
    assert capsys.readouterr().out.split("\n")[-2].startswith(f"   total  {summary}")


def test_the_chain_that_replay_names_in_its_help_works() -> None:
    Path("body").write_bytes(RECORDED)
    assert run(["replay", "body", "--use", *shlex.split(USE)]) == 0


def test_replay_shows_every_item(capsys: pytest.CaptureFixture[str]) -> None:
    Path("body").write_bytes(b"".join(chunk(f"word {number} ") for number in range(200)) + chunk("", "stop") + DONE)
    assert run(["replay", "body"]) == 0
    assert capsys.readouterr().out.count("      in  ") == 202


def test_replay_takes_chain_request_and_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    markers = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    Path("body").write_bytes(chunk(markers, "stop") + DONE)
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    Path("request").write_text(json.dumps({"messages": [{"role": "user", "content": "x"}], "tools": tools}))
    for chain in (["--use", '[["Kimi", {"preset": "agent"}]]'], ["--config", "config.json", "--model", "kimi-k2"]):
        assert run(["replay", "body", "--request", "request", *chain]) == 0
        assert "markers_parsed" in capsys.readouterr().out
    assert run(["replay", "body", "--request", "request", "--use", "Kimi"]) == 0
    assert "markers_seen" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone"], "moongate: gone: cannot be read: No such file or directory"),
        (["body", "--request", "body"], "moongate: body: is not a JSON object"),
        (
            ["body", "--use", "{"],
            "moongate: --use:1:2: the text ends, but the '{' of line 1 is not closed\n  {\n   ^\nin a shell",
        ),
        (["body", "--use", "[[Kimi,{preset:agent}]]"], "moongate: --use:1:3: expected a value\n  [[Kimi,"),
        (
            ["body", "--use", "[\n1 2"],
            "moongate: --use:2:2: expected ',' or ']' here\nin a shell, with the quotes: --use '[[",
        ),
        (["body", "--use", "Kimmi"], "moongate: --use:1: use: unknown transformer 'Kimmi', did you mean 'Kimi'?"),
    ],
)
def test_replay_rejects(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("body").write_bytes(RECORDED)
    assert run(["replay", *arguments]) == 2
    assert capsys.readouterr().err.startswith(message)


def test_replay_of_folders_and_files_sums_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("some/inner").mkdir(parents=True)
    Path("some/a.sse").write_bytes(CALLED)
    Path("some/inner/b.sse").write_bytes(CALLED)
    Path("some/.hidden").write_bytes(b"not read")
    Path("cut.sse").write_bytes(chunk("Hel"))
    assert run(["replay", "some", "cut.sse"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["some/a.sse", "some/inner/b.sse", "cut.sse", "3"]
    assert lines[0].endswith('1 call; finish_reason "tool_calls"; 2 repairs: id, finish_reason; complete')
    assert lines[2].endswith("incomplete")
    assert lines[3] == "3 answers: 2 complete, 1 incomplete; 2 calls; 4 repairs: finish_reason × 2, id × 2"


def test_replay_gives_json_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    Path("called.sse").write_bytes(CALLED)
    Path("page.html").write_bytes(b"<html>busy</html>")
    assert run(["replay", "--json", "called.sse", "page.html"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["files"][0] == {
        "file": "called.sse",
        "outcome": "complete",
        "events_in": 3,
        "events_out": 3,
        "calls": 1,
        "finish_reasons": ["tool_calls"],
        "repairs": {"id": 1, "finish_reason": 1},
    }
    assert found["files"][1]["outcome"] == "no answer at all"
    assert found["total"] == {
        "answers": 2,
        "outcomes": {"complete": 1, "no answer at all": 1},
        "calls": 1,
        "repairs": {"finish_reason": 1, "id": 1},
    }


def test_replay_of_an_empty_folder_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    assert run(["replay", "empty"]) == 2
    assert "empty: there is no file in this folder" in capsys.readouterr().err
