"""`moongate connect` as a user runs it."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import CONFIG, run, write

from moongate.cli.agent_settings import GatewayAddress, context_window
from moongate.cli.agents import AGENTS
from moongate.sim import listed_models

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("agent", AGENTS)
def test_connect_shows_what_an_agent_needs(agent: str, capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run(["connect", agent]) == 0
    shown = capsys.readouterr().out
    assert "http://127.0.0.1:4321" in shown
    assert "YOUR_CLIENT_KEY" in shown
    assert "canary" not in shown
    assert run(["connect", agent, "--show-key", "--url", "http://gate:1/", "--model", "best"]) == 0
    shown = capsys.readouterr().out
    assert "client-canary-1" in shown
    assert "http://gate:1" in shown


def test_connect_without_a_configuration(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run(["connect", "claude-code"]) == 0
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
def test_connect_shows_a_reference_to_the_key(
    keys: Any, line: str, where: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("a key").write_text("file-canary\n")
    write({**CONFIG, "api_keys": keys})
    assert run(["connect", "openai"], MINE="variable-canary") == 0
    shown = capsys.readouterr().out
    assert line.format(folder) in shown
    assert where in shown
    assert "canary" not in shown
    assert 'create(model="kimi-k2",' in shown
    assert "\n  model: kimi-k2\n" in shown
    assert "simulator" not in shown


def test_connect_names_a_model_that_the_simulator_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["connect", "openai"]) == 0
    shown = capsys.readouterr().out
    assert f'model="{listed_models()[0]}"' in shown
    assert "no config.json here and no gateway running" in shown
    assert run(["connect", "openai", "--model", "kimi-k2-sim-markers"]) == 0
    assert run(["connect", "openai", "--model", "kimi-k2-sim-marker"]) == 2
    assert "--model: The model 'kimi-k2-sim-marker' does not exist. Did you mean" in capsys.readouterr().err


def test_connect_needs_an_address_if_any_free_port_is_configured(capsys: pytest.CaptureFixture[str]) -> None:
    write({**CONFIG, "port": 0})
    assert run(["connect", "openai"]) == 2
    assert "--url: the configuration takes any free port" in capsys.readouterr().err
    assert run(["connect", "openai", "--url", "http://127.0.0.1:5"]) == 0


@pytest.mark.parametrize("default", [None, "kimi-k2"])
def test_connect_rejects_an_unknown_model(default: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    """Also one that the default would answer: it may be a slip."""
    write({**CONFIG, "default": default} if default else {k: v for k, v in CONFIG.items() if k != "default"})
    assert run(["connect", "codex", "--model", "kimi-k9"]) == 2
    assert "--model: The model 'kimi-k9' does not exist" in capsys.readouterr().err
    assert run(["connect", "codex", "--model", "claude-opus-5"]) == 0  # an alias fits it


def test_connect_writes_nothing_if_it_is_not_known_for_which_gateway(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["connect", "claude-code", "--write"]) == 2
    assert "no gateway is running, and there is no config.json here: start it first" in capsys.readouterr().err
    assert contents(folder) == {}


def test_connect_writes_into_json_and_keeps_the_rest(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    file = Path("settings.json")
    file.write_text('{"theme": "dark", "env": {"A": "1"}} // a comment')
    assert run(["connect", "claude-code", "--write", "--file", str(file)]) == 0
    found = json.loads(file.read_text())
    assert found["theme"] == "dark"
    assert found["env"]["A"] == "1"
    assert found["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:4321"
    assert found["env"]["ANTHROPIC_AUTH_TOKEN"] == "client-canary-1"
    assert found["env"]["ANTHROPIC_MODEL"] == "kimi-k2"
    backup = file.with_name("settings.json.before-moongate")
    assert backup.read_text().startswith('{"theme"')
    assert file.stat().st_mode & 0o777 == 0o600
    assert "wrote settings.json (the previous content is in settings.json.before-moongate)" in capsys.readouterr().out
    assert run(["connect", "claude-code", "--write", "--file", str(file), "--url", "http://127.0.0.1:1"]) == 0
    assert json.loads(file.read_text())["env"]["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1"
    assert backup.read_text().startswith('{"theme": "dark", "env": {"A": "1"}}')


def test_connect_creates_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run(["connect", "claude-code", "--write", "--file", "new.json"]) == 0
    assert "wrote new.json\n" in capsys.readouterr().out
    assert Path("new.json.before-moongate").read_text() == ""


def test_connect_writes_into_toml_and_keeps_comments(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    write()
    file = folder / ".codex" / "config.toml"
    file.parent.mkdir()
    before = '# mine\nmodel = "gpt"  # the old one\n\n[tui]\ntheme = "dark" # nice\n'
    file.write_text(before)
    assert run(["connect", "codex", "--write"]) == 0
    text = file.read_text()
    found = tomllib.loads(text)
    assert text.startswith('# mine\nmodel = "kimi-k2"  # the old one\n')
    assert 'theme = "dark" # nice' in text
    assert found["model_provider"] == "moongate"
    assert found["model_context_window"] == 262_144
    assert found["model_providers"]["moongate"]["wire_api"] == "responses"
    catalogue = json.loads((file.parent / found["model_catalog_json"]).read_text())
    assert [each["slug"] for each in catalogue["models"]] == ["kimi-k2"]
    shown = capsys.readouterr().out
    assert "then: codex\n" in shown
    assert "canary" not in shown
    # What was changed since is kept; what was there before comes back.
    file.write_text(text + '\n[projects."/x"]\ntrust_level = "trusted"\n')
    assert run(["connect", "codex", "--undo"]) == 0
    assert tomllib.loads(file.read_text()) == {
        "model": "gpt",
        "tui": {"theme": "dark"},
        "projects": {"/x": {"trust_level": "trusted"}},
    }
    assert list(file.parent.iterdir()) == [file]


# The file of each agent that has one.
FILES = {
    name: str(file).removeprefix("~/")
    for name, settings in AGENTS.items()
    if (file := settings(GatewayAddress("", "", "")).file) is not None
}


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("agent", "name"), FILES.items())
def test_writing_twice_changes_nothing_and_undo_takes_all_back(
    agent: str, name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write()
    empty = contents(folder)
    assert run(["connect", agent, "--undo"]) == 0
    assert "has no settings of moongate's" in capsys.readouterr().out
    assert run(["connect", agent, "--write"]) == 0
    once = contents(folder)
    assert "client-canary-1" in (folder / name).read_text()
    assert (folder / name).stat().st_mode & 0o777 == 0o600
    assert run(["connect", agent, "--write"]) == 0
    assert f"{name} has these settings already" in capsys.readouterr().out
    assert contents(folder) == once
    # Another model and another gateway, then back.
    assert run(["connect", agent, "--write", "--model", "best", "--url", "http://127.0.0.1:1"]) == 0
    assert contents(folder) != once
    assert run(["connect", agent, "--undo"]) == 0
    assert contents(folder) == empty


@pytest.mark.parametrize(("agent", "name"), FILES.items())
def test_undo_gives_back_what_was_there_before(agent: str, name: str, folder: Path) -> None:
    write()
    file = folder / name
    file.parent.mkdir(parents=True)
    other = {"envKey": "OTHER", "id": "o"}
    value = {"model": {"name": "m"}, "modelProviders": {"openai": [other]}, "env": {"A": "1"}}
    texts = {".toml": '# mine\ndefault_model = "m"\n\n[x]\ny = 1\n', ".env": "export A=1 # mine\n"}
    text = texts.get(file.suffix, json.dumps(value))
    file.write_text(text)
    assert run(["connect", agent, "--write"]) == 0
    assert file.read_text() != text
    if agent == "qwen-code":
        assert json.loads(file.read_text())["modelProviders"]["openai"][0] == other
    assert run(["connect", agent, "--undo"]) == 0
    assert file.read_text() == text


def test_cline_gets_its_window(folder: Path) -> None:
    """Without it, Cline compacts at 128 000 tokens."""
    write()
    assert run(["connect", "cline", "--write", "--context-window", "65536"]) == 0
    found = json.loads((folder / FILES["cline"]).read_text())
    assert found["providers"]["openai-compatible"]["settings"]["contextWindow"] == 65_536


def test_kimi_code_gets_its_default_model_and_its_window(folder: Path) -> None:
    write()
    assert run(["connect", "kimi-code", "--write", "--context-window", "65536"]) == 0
    found = tomllib.loads((folder / ".kimi-code" / "config.toml").read_text())
    assert found["default_model"] == "moongate"
    assert found["models"]["moongate"] == {"provider": "moongate", "model": "kimi-k2", "max_context_size": 65536}


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("moonshotai/Kimi-K2.6", 262_144),
        ("moonshotai/Kimi-K2-Instruct", 131_072),
        ("kimi-k2-0711-preview", 131_072),
        ("moonshotai/Kimi-K2-Instruct-0905", 262_144),
        ("moonshot-v1-32k", 32_768),
        ("moonshot-v1-8k", 8_192),
        ("moonshot-v1-auto", 131_072),
        ("moonshotai/Kimi-K3", 1_048_576),
        ("accounts/fireworks/models/kimi-k3p1-pro", 1_048_576),
        ("kimi-for-coding", 1_048_576),
        ("k3-256k", 262_144),
        ("accounts/fireworks/models/kimi-k2p7-code", 262_144),
        ("my-alias", 262_144),
    ],
)
def test_windows_of_models(model: str, window: int) -> None:
    assert context_window(model) == window


def test_connect_takes_the_key_of_a_client(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    keys = ["first-canary-key", {"key": "$ANNA", "name": "anna"}]
    write({**CONFIG, "api_keys": keys})
    anna = {"ANNA": "anna-canary-key"}
    assert run(["connect", "claude-code", "--write", "--client", "anna"], **anna) == 0
    found = json.loads((folder / ".claude" / "settings.json").read_text())
    assert found["env"]["ANTHROPIC_AUTH_TOKEN"] == "anna-canary-key"
    assert run(["connect", "openai", "--client", "anna"], **anna) == 0
    assert "client key: in $ANNA, api_keys 'anna' in config.json" in capsys.readouterr().out
    assert run(["connect", "openai", "--client", "ana"], **anna) == 2
    assert "--client: no client key is named 'ana', did you mean 'anna'?" in capsys.readouterr().err
    write({**CONFIG, "api_keys": []})
    assert run(["connect", "openai", "--client", "anna"]) == 2
    assert "the configuration has no 'api_keys'" in capsys.readouterr().err


def test_connect_takes_a_key_that_the_configuration_does_not_hold(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    write()
    Path("key").write_text("file-canary-key\n")
    file = folder / ".claude" / "settings.json"
    for given, key in (("$MINE", "my-canary-key"), ("file:key", "file-canary-key"), ("mg-canary-key", "mg-canary-key")):
        assert run(["connect", "claude-code", "--write", "--key", given], MINE="my-canary-key") == 0
        assert json.loads(file.read_text())["env"]["ANTHROPIC_AUTH_TOKEN"] == key
        assert run(["connect", "claude-code", "--key", given]) == 0
    assert "canary" not in capsys.readouterr().out
    assert run(["connect", "claude-code", "--write", "--key", "$MINE"]) == 2
    assert "--key: the environment variable 'MINE' is not set" in capsys.readouterr().err
    assert run(["connect", "claude-code", "--write", "--key", "file:none"]) == 2
    assert "--key: none cannot be read" in capsys.readouterr().err


def test_connect_needs_no_key_of_a_provider(capsys: pytest.CaptureFixture[str]) -> None:
    provider = {**CONFIG["providers"][0], "api_key": "$NOT_SET", "headers": {"x-key": "$NOT_SET_EITHER"}}
    write({**CONFIG, "providers": [provider]})
    assert run(["connect", "claude-code", "--write"]) == 0
    assert run(["check"]) == 2


def test_connect_says_what_it_cannot_do(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run(["connect", "openai", "--write"]) == 2
    assert "have no settings file" in capsys.readouterr().err
    assert run(["connect", "codex", "--context-window", "1"]) == 2
    assert "--context-window: expected 1024 or more" in capsys.readouterr().err


def test_connect_names_the_file_that_it_cannot_change(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    write()
    (folder / ".claude").touch()
    assert run(["connect", "claude-code", "--write"]) == 2
    assert "cannot be changed: " in capsys.readouterr().err
    Path("binary").write_bytes(b"\xff")
    assert run(["connect", "claude-code", "--write", "--file", "binary"]) == 2
    assert "binary: cannot be changed: it is not text" in capsys.readouterr().err
    Path("list.json").write_text("[]")
    assert run(["connect", "claude-code", "--write", "--file", "list.json"]) == 2
    assert "list.json: cannot be changed: it is not a JSON object" in capsys.readouterr().err
    Path("broken.toml").write_text('a = 1\nkey = "sk-canary\n')
    assert run(["connect", "codex", "--write", "--file", "broken.toml"]) == 2
    message = capsys.readouterr().err
    assert "broken.toml:2: cannot be changed: it is not valid TOML\n" in message
    assert "canary" not in message
    Path("broken.json").write_text('{"env": {"ANTHROPIC_AUTH_TOKEN": "sk-canary" "A": 1}}')
    assert run(["connect", "claude-code", "--write", "--file", "broken.json"]) == 2
    message = capsys.readouterr().err
    assert "broken.json:1:45: expected ',' or '}' here\n" in message
    assert "canary" not in message
