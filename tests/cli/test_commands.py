"""The commands that end by themselves."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.scripted import DONE, chunk

from moongate.cli import COMMANDS, main
from moongate.gateway.config.schema import json_schema

CONFIG: dict[str, Any] = {
    "providers": [
        {
            "name": "p",
            "api_base_url": "https://api.example.com",
            "api_key": "sk-canary-1234",
            "models": ["kimi-k2", {"name": "kimi-k3", "alias": "best", "fallback": "kimi-k2"}],
            "transformer": {"use": [["Kimi", {"preset": "agent"}], "CustomTransformer"]},
        },
        {"name": "plain", "api_base_url": "http://10.0.0.1/v1", "api_key": "sk-canary-5678", "models": ["x"]},
    ],
    "api_keys": ["client-canary-1"],
    "aliases": {"claude-*": "kimi-k2"},
    "default": "kimi-k2",
    "port": 4321,
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MOONGATE_CONFIG", raising=False)
    monkeypatch.setenv("MOONGATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def write(value: Any = CONFIG, name: str = "config.json") -> None:
    Path(name).write_text(json.dumps(value))


def exit_code(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*arguments) == 0
    assert "usage: moongate" in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--version") == 0
    assert capsys.readouterr().out.startswith("moongate ")


@pytest.mark.parametrize("arguments", [["nonsense"], ["serve", "--nonsense"], ["connect", "nobody"]])
def test_a_wrong_command_line_ends_with_2(arguments: list[str]) -> None:
    assert exit_code(*arguments) == 2


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "commands:" in capsys.readouterr().out


def test_the_module_runs() -> None:
    done = subprocess.run([sys.executable, "-m", "moongate", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("moongate ")


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


@pytest.mark.parametrize(
    "provider", ["moonshot", "openrouter", "siliconflow", "together", "fireworks", "vllm", "sglang"]
)
def test_init_writes_what_check_accepts(
    provider: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", provider]) == 0
    assert Path("config.json").stat().st_mode & 0o777 == 0o600
    for name in ("MOONSHOT", "OPENROUTER", "SILICONFLOW", "TOGETHER", "FIREWORKS"):
        monkeypatch.setenv(f"{name}_API_KEY", "sk-canary")
    assert main(["check"]) == 0
    assert "manualToolParsing: true" in capsys.readouterr().out


def test_init_takes_flags(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--url", "http://127.0.0.1:9", "--key", "$MINE", "--model", "a", "--model", "b", "--preset", "default"]
    assert main(["init", "other", *flags, "-o", "x.json"]) == 0
    assert "export MINE=" in capsys.readouterr().out
    text = Path("x.json").read_text()
    assert '"api_key": "$MINE"' in text
    assert '"a",' in text
    assert '"b",' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "moongate: say which provider: moongate init moonshot|"),
        (["other"], "moongate: --url: is needed for this provider"),
        (["other", "--url", "http://x"], "moongate: --model: is needed for this provider"),
        (["vllm", "--url", "nonsense"], "moongate: (new configuration):6: providers[0].api_base_url: expected a URL"),
    ],
)
def test_init_refuses(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", *arguments]) == 2
    assert capsys.readouterr().err.startswith(message)
    assert not Path("config.json").exists()


def test_init_overwrites_nothing_unless_forced(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert main(["init", "vllm"]) == 2
    assert "config.json: is there already" in capsys.readouterr().err
    assert main(["init", "vllm", "--force"]) == 0
    assert list(Path().glob(".config.json-*")) == []


@pytest.mark.parametrize(
    "agent", ["claude-code", "codex", "opencode", "kimi-code", "kimi-cli", "cline", "qwen-code", "openai"]
)
def test_connect_shows_what_an_agent_needs(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert main(["connect", agent]) == 0
    shown = capsys.readouterr().out
    assert "http://127.0.0.1:4321" in shown
    assert "YOUR_CLIENT_KEY" in shown
    assert "canary" not in shown
    assert main(["connect", agent, "--show-key", "--url", "http://gate:1/", "--model", "best"]) == 0
    shown = capsys.readouterr().out
    assert "client-canary-1" in shown
    assert "http://gate:1" in shown


def test_connect_without_a_configuration(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["connect", "claude-code"]) == 0
    shown = capsys.readouterr().out
    assert "http://127.0.0.1:3000" in shown
    assert str(folder / "home" / "client-key") in shown


def test_connect_refuses_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    write({key: value for key, value in CONFIG.items() if key != "default"})
    assert main(["connect", "codex", "--model", "kimi-k9"]) == 2
    assert "--model: The model 'kimi-k9' does not exist" in capsys.readouterr().err


def test_connect_writes_into_json_and_keeps_the_rest() -> None:
    write()
    file = Path("settings.json")
    file.write_text('{"theme": "dark", "env": {"A": "1"}} // a comment')
    assert main(["connect", "claude-code", "--write", "--file", str(file)]) == 0
    found = json.loads(file.read_text())
    assert found["theme"] == "dark"
    assert found["env"]["A"] == "1"
    assert found["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:4321"
    assert found["env"]["ANTHROPIC_AUTH_TOKEN"] == "client-canary-1"
    assert found["env"]["ANTHROPIC_MODEL"] == "kimi-k2"
    assert file.with_name("settings.json.before-moongate").read_text().startswith('{"theme"')
    assert file.stat().st_mode & 0o777 == 0o600


def test_connect_appends_to_toml_once(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    write()
    file = folder / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text('model = "gpt"\n')
    assert main(["connect", "codex", "--write"]) == 0
    found = tomllib.loads(file.read_text())
    assert found["model"] == "gpt"
    assert found["model_providers"]["moongate"]["wire_api"] == "responses"
    told = capsys.readouterr().out
    assert "codex -c model_provider=moongate -m kimi-k2" in told
    assert "export MOONGATE_CLIENT_KEY=client-canary-1" in told
    assert main(["connect", "codex", "--write"]) == 2
    assert "has a section for moongate already" in capsys.readouterr().err
    assert main(["connect", "cline", "--write"]) == 2


RECORDED = chunk("Hel") + b": comment\n\n" + chunk("lo.", "stop") + DONE
CALLED = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function",'
    b'"function":{"name":"f","arguments":"{}"}}]}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


def test_replay_shows_what_came_what_left_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    Path("body.sse").write_bytes(CALLED)
    assert main(["replay", "body.sse", "--wide"]) == 0
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
        (b'{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}', 0, ["as it came"]),
        (b'{"choices":[{"message":{"tool_calls":[{"id":"x","function":{"name":"f"}}]}}]}', 0, ["functions.f:0"]),
        (b'{"error":{"message":"no","code":429}}', 1, ["UpstreamRefused 429: no"]),
        (b'data: {"error":{"message":"no","code":429}}\n\n', 1, ["error 429: no"]),
        (b"<html>", 1, ["without [DONE]"]),
    ],
)
def test_replay_of_other_bodies(body: bytes, code: int, marks: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("body").write_bytes(body)
    assert main(["replay", "body"]) == code
    shown = capsys.readouterr().out
    assert [mark for mark in marks if mark not in shown] == []


def test_replay_leaves_no_item_out(capsys: pytest.CaptureFixture[str]) -> None:
    Path("body").write_bytes(b"".join(chunk(f"word {number} ") for number in range(200)) + chunk("", "stop") + DONE)
    assert main(["replay", "body"]) == 0
    assert capsys.readouterr().out.count("    came  ") == 202


def test_replay_takes_chain_request_and_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    markers = "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    Path("body").write_bytes(chunk(markers, "stop") + DONE)
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    Path("request").write_text(json.dumps({"messages": [{"role": "user", "content": "x"}], "tools": tools}))
    for chain in (["--use", '[["Kimi", {"preset": "agent"}]]'], ["--config", "config.json", "--model", "kimi-k2"]):
        assert main(["replay", "body", "--request", "request", *chain]) == 0
        assert "markers_parsed" in capsys.readouterr().out
    assert main(["replay", "body", "--request", "request", "--use", "Kimi"]) == 0
    assert "markers_seen" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone"], "moongate: gone: cannot be read: No such file or directory"),
        (["body", "--request", "body"], "moongate: body: is not a JSON object"),
        (["body", "--use", "Kimmi"], "moongate: --use:1: use: unknown transformer 'Kimmi', did you mean 'Kimi'?"),
    ],
)
def test_replay_refuses(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("body").write_bytes(RECORDED)
    assert main(["replay", *arguments]) == 2
    assert capsys.readouterr().err.startswith(message)


def test_the_simulator_lists_its_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--models"]) == 0
    assert "kimi-k2-sim" in capsys.readouterr().out


def test_a_folder_that_is_not_there_is_no_traceback(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["init", "moonshot", "-o", "nowhere/config.json"]) == 2
    assert "nowhere/config.json: cannot be written" in capsys.readouterr().err


def test_the_simulator_takes_only_ports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--port", "99999"]) == 2
    assert "--port: expected 0 … 65535, found 99999" in capsys.readouterr().err


def test_the_end_of_the_answers_ends_the_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return ""

    monkeypatch.setattr("sys.stdin", Closed())
    assert main(["init"]) == 130
