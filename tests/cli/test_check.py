"""`moongate check` as a user runs it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cli.sample import CONFIG, write

from moongate.cli import main
from moongate.gateway.config.schema import json_schema

pytestmark = pytest.mark.usefixtures("folder")


def test_check_shows_what_the_file_means_and_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert main(["check"]) == 0
    shown = capsys.readouterr()
    assert "https://api.example.com/v1/chat/completions" in shown.out
    assert "manualToolParsing: true" in shown.out
    assert "fallback: p,kimi-k2" in shown.out
    assert "claude-* → kimi-k2" in shown.out
    assert "asked for as kimi-k3, best, p,kimi-k3" in shown.out
    assert "chain: CustomTransformer" in shown.out
    assert "chain: (none)" in shown.out
    assert "the key travels unencrypted to http://10.0.0.1" in shown.err
    assert "is a placeholder and does nothing" in shown.err
    assert "canary" not in shown.out + shown.err
    assert "\033" not in shown.out + shown.err


def test_check_tells_what_was_recognised_first_then_what_is_not_default(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        {
            "name": "moon",
            "api_base_url": "https://api.moonshot.ai",
            "models": ["kimi-k2.6", "other"],
            "transformer": {"use": ["Kimi"], "other": {"use": [["Kimi", {"idPrefix": "fn", "host": "vllm"}]]}},
        }
    )
    assert main(["check"]) == 0
    first, second = capsys.readouterr().out.split("    chain: Kimi\n")[1:]
    assert first.split("\n")[:5] == [
        "      host: moonshot (the base URL's host is api.moonshot.ai)",
        "      model: family k2, generation k2.6 (the name 'kimi-k2.6' says K2.6)",
        "      repairs: ids of calls, finish_reason, history, reasoning in the history, parameters, "
        "tool schemas and names",
        "      leaves alone: calls written as markers (manualToolParsing), arguments (repairArguments)",
        "      options: 19, all at their defaults (--all shows them)",
    ]
    assert "      host: vllm (the option host says vllm)\n" in second
    assert "      repairs: ids of calls, finish_reason, history, reasoning in the history\n" in second
    assert '      options (17 more at their defaults: --all):\n        idPrefix: "fn"\n        host: "vllm"\n' in second
    assert "counterScope" not in first + second
    assert main(["check", "--all"]) == 0
    shown = capsys.readouterr().out
    assert shown.count('        counterScope: "conversation"\n') == 2
    assert "--all" not in shown


def test_check_takes_the_file_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write({**CONFIG, "api_keys": "none"}, "other.json")
    monkeypatch.setenv("MOONGATE_CONFIG", "other.json")
    assert main(["check"]) == 0
    shown = capsys.readouterr()
    assert shown.out.endswith("ok other.json\n")
    assert "every program on this machine" in shown.err


def test_check_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--schema"]) == 0
    assert capsys.readouterr().out == json_schema()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "moongate: there is no config.json here: write one with 'moongate init', or name one with --config\n"),
        ({**CONFIG, "default": "kimi-k9"}, "moongate: config.json:1: default: no model 'kimi-k9', did you mean"),
    ],
)
def test_check_refuses(content: Any, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        write(content)
    assert main(["check"]) == 2
    assert capsys.readouterr().err.startswith(message)
