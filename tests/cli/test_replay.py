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
        (b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}', 0, ["unchanged"]),
        (b'{"choices":[{"message":{"tool_calls":[{"id":"x","function":{"name":"f"}}]}}]}', 0, ["functions.f:0"]),
        (b'{"error":{"message":"no","code":429}}', 1, ["UpstreamRefused 429: no"]),
        (b'data: {"error":{"message":"no","code":429}}\n\n', 1, ["error 429: no"]),
        (b"<html>", 1, ["without [DONE]"]),
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
            "0 events in, 0 out; 0 calls; finish_reason none; 0 repairs; incomplete",
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
