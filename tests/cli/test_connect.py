"""`moongate connect` as a user runs it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import CONFIG, write

from moongate.cli import main
from moongate.cli.connect import SIMULATED
from moongate.sim import listed_models

pytestmark = pytest.mark.usefixtures("folder")


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


@pytest.mark.parametrize(
    ("keys", "line", "where"),
    [
        (["$MINE"], 'export OPENAI_API_KEY="$MINE"', "client key: in $MINE, the first of 'api_keys' in config.json"),
        (["${MINE}"], 'export OPENAI_API_KEY="$MINE"', "client key: in $MINE"),
        (["file:a key"], "export OPENAI_API_KEY=\"$(cat '{}/a key')\"", "client key: in a key, the first"),
        (["literal-canary"], 'export OPENAI_API_KEY="YOUR_CLIENT_KEY"', "YOUR_CLIENT_KEY: the first of 'api_keys'"),
        ([], 'export OPENAI_API_KEY="$(cat {}/home/client-key)"', "client-key, made when the gateway first starts"),
        ("none", "export OPENAI_API_KEY=none", ""),
    ],
)
def test_connect_gives_a_key_to_paste(
    keys: Any, line: str, where: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "variable-canary")
    Path("a key").write_text("file-canary\n")
    write({**CONFIG, "api_keys": keys})
    assert main(["connect", "openai"]) == 0
    shown = capsys.readouterr().out
    assert line.format(folder) in shown
    assert where in shown
    assert "canary" not in shown
    assert 'create(model="kimi-k2",' in shown
    assert "\n  model: kimi-k2\n" in shown
    assert "simulator" not in shown


def test_connect_names_a_model_that_the_simulator_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["connect", "openai"]) == 0
    shown = capsys.readouterr().out
    assert f'model="{SIMULATED}"' in shown
    assert "no config.json here" in shown
    assert listed_models()[0] == SIMULATED


def test_connect_knows_no_port_that_is_not_chosen_yet(capsys: pytest.CaptureFixture[str]) -> None:
    write({**CONFIG, "port": 0})
    assert main(["connect", "openai"]) == 2
    assert "--url: the configuration takes any free port" in capsys.readouterr().err
    assert main(["connect", "openai", "--url", "http://127.0.0.1:5"]) == 0


def test_connect_refuses_a_model_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    write({key: value for key, value in CONFIG.items() if key != "default"})
    assert main(["connect", "codex", "--model", "kimi-k9"]) == 2
    assert "--model: The model 'kimi-k9' does not exist" in capsys.readouterr().err


def test_connect_writes_into_json_and_keeps_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
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
    kept = file.with_name("settings.json.before-moongate")
    assert kept.read_text().startswith('{"theme"')
    assert file.stat().st_mode & 0o777 == 0o600
    assert (
        "wrote settings.json (what stood there before is in settings.json.before-moongate)" in capsys.readouterr().out
    )
    assert main(["connect", "claude-code", "--write", "--file", str(file), "--url", "http://127.0.0.1:1"]) == 0
    assert json.loads(file.read_text())["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert kept.read_text().startswith('{"theme": "dark", "env": {"A": "1"}}')


def test_connect_writes_a_file_that_was_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert main(["connect", "claude-code", "--write", "--file", "new.json"]) == 0
    assert "wrote new.json\n" in capsys.readouterr().out
    assert not Path("new.json.before-moongate").exists()


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
    assert 'export MOONGATE_CLIENT_KEY="YOUR_CLIENT_KEY"' in told
    assert "YOUR_CLIENT_KEY: the first of 'api_keys' in config.json (--show-key shows it)" in told
    assert "canary" not in told
    assert main(["connect", "codex", "--write"]) == 2
    assert "has a section for moongate already" in capsys.readouterr().err
    assert main(["connect", "cline", "--write"]) == 2


def test_connect_tells_what_it_cannot_change(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / ".claude").touch()
    assert main(["connect", "claude-code", "--write"]) == 2
    assert "cannot be changed: " in capsys.readouterr().err
    Path("binary").write_bytes(b"\xff")
    assert main(["connect", "claude-code", "--write", "--file", "binary"]) == 2
    assert "binary: cannot be changed: it is not text" in capsys.readouterr().err
    Path("broken.json").write_text('{"env": {"ANTHROPIC_AUTH_TOKEN": "sk-canary" "A": 1}}')
    assert main(["connect", "claude-code", "--write", "--file", "broken.json"]) == 2
    told = capsys.readouterr().err
    assert "broken.json:1:45: expected ',' or '}' here\n" in told
    assert "canary" not in told
