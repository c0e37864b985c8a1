"""Files in the style of other servers' users, of our own writing: each imports, is valid, and is served."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import run, write
from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.gateway import run_gateway
from tests.support.http import post

from moongate.cli.init import EverySet
from moongate.gateway.config.load import parse_config

pytestmark = pytest.mark.usefixtures("folder")

FOLDER = Path(__file__).parent / "foreign"
FILES = sorted(each.name for each in FOLDER.iterdir())
SERVER = {"ccr": "ccr", "llms": "ccr", "litellm": "litellm", "opencode": "opencode"}
ASK = {"messages": [{"role": "user", "content": "hi"}]}


def imported(name: str) -> dict[str, Any]:
    shutil.copy(FOLDER / name, name)
    assert run(["import", SERVER[Path(name).stem.partition("-")[0]], name, "--force"]) == 0
    found: dict[str, Any] = json.loads(Path("config.json").read_text())
    return found


def test_there_are_at_least_ten() -> None:
    assert len(FILES) >= 10


@pytest.mark.parametrize("name", FILES)
def test_it_imports_and_is_served(name: str) -> None:
    config = imported(name)
    parse_config(Path("config.json").read_text(), "config.json", Path(), EverySet())
    asked = [*config.get("aliases", {}), *config.get("routes", {}), "no-such-model"][
        : None if "default" in config else -1
    ]
    for provider in config["providers"]:
        asked += [
            f"{provider['name']},{each if isinstance(each, str) else each['name']}" for each in provider["models"]
        ]
    with Background() as background:
        upstream = background.start(Scripted().start())
        for provider in config["providers"]:
            provider["api_base_url"] = upstream.url
            provider.pop("proxy", None)
        serving = {**config, "api_keys": "none", "host": "127.0.0.1"}
        with run_gateway(serving, environment=EverySet()) as gateway:
            for model in asked:
                model = model.replace("*", "x")
                reply = post(gateway.root + "/v1/chat/completions", {**ASK, "model": model})
                assert (model, reply.status) == (model, 200)
        assert len(upstream.seen) == len(asked)
        kimi = [each for each in upstream.seen if "kimi" in each.json["model"].lower()]
        assert kimi


@pytest.mark.parametrize("name", FILES)
def test_serve_and_check_name_the_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(FOLDER / name, name)
    for command in ("check", "serve"):
        assert run([command, "--config", name]) == 2
        server = SERVER[Path(name).stem.partition("-")[0]]
        assert f"moongate import {server} {name}" in capsys.readouterr().err


def test_litellm(capsys: pytest.CaptureFixture[str]) -> None:
    config = imported("litellm-balanced.yaml")
    shown = capsys.readouterr().out
    assert config["routes"]["kimi-k2"] == {
        "targets": [
            {"model": "fireworks_ai,accounts/fireworks/models/kimi-k2-instruct-0905", "weight": 2},
            {"model": "together_ai,moonshotai/Kimi-K2-Instruct-0905"},
        ],
        "strategy": "latency",
    }
    assert config["aliases"] == {
        "cheap": "deepseek,deepseek-chat",
        "claude-sonnet-4-5": "kimi-k2",
        "gpt-4": "deepseek,deepseek-chat",
    }
    assert config["api_keys"] == ["$LITELLM_MASTER_KEY"]
    assert config["retries"] == {"retries": 2, "failures": 3, "cool_down": 30}
    assert config["timeouts"] == {"whole": 120}
    first, _, cheap = config["providers"]
    assert first["models"][0]["fallback"] == ["deepseek,deepseek-chat"]
    assert (cheap["api_key"], cheap["models"][0]["price"]) == ("$DEEPSEEK_API_KEY", {"input": 0.27, "output": 1.1})
    for line in ("router_settings.redis_host", "litellm_settings.drop_params", "general_settings.database_url"):
        assert f"not taken  {line}: no counterpart" in shown
    assert "not taken  model_list[0].litellm_params.rpm: no counterpart" in shown


def test_litellm_with_anchors_other_kinds_and_paths(capsys: pytest.CaptureFixture[str]) -> None:
    config = imported("litellm-vllm.yaml")
    shown = capsys.readouterr().out
    first, second, third = config["providers"]
    assert [each["api_base_url"] for each in (first, second)] == ["http://gpu-1:8000/v1", "http://gpu-2:8000/v1"]
    model = "moonshotai/Kimi-K2-Instruct-0905"
    parameters = {"temperature": 0.6, "max_tokens": 8192, "repetition_penalty": 1.05}
    assert first["transformer"][model]["use"] == [["customparams", parameters], ["Kimi", {"preset": "agent"}]]
    assert second["headers"] == {"x-team": "search"}
    assert (third["passthrough"], third["api_key"]) == (["/v1/embeddings"], "none")
    assert config["routes"]["kimi"]["strategy"] == "weighted"
    assert "not taken  model_list[3] (claude): 'bedrock' is not asked by chat completions" in shown
    assert "not taken  model_list[4] (openai/*): models are listed by their names" in shown
    assert "not taken  model_list[5] (unreachable): it needs api_base" in shown
    assert "not taken  litellm_settings.default_fallbacks: 'nobody' is no model that was taken" in shown


def test_opencode(capsys: pytest.CaptureFixture[str]) -> None:
    config = imported("opencode.json")
    shown = capsys.readouterr().out
    moonshot, local = config["providers"]
    assert (moonshot["api_base_url"], moonshot["api_key"]) == ("https://api.moonshot.ai/v1", "$MOONSHOT_API_KEY")
    assert local["api_key"] == "$LOCAL_KEY"
    assert local["models"] == [
        {
            "name": "moonshotai/Kimi-K2-Instruct-0905",
            "alias": "kimi",
            "price": {"input": 0.6, "output": 2.5, "cache_read": 0.15},
        },
        "tiny",
    ]
    assert (config["default"], config["aliases"]) == ("moonshotai,kimi-k2.6", {"small": "local,tiny"})
    assert "not taken  provider.anthropic: @ai-sdk/anthropic does not speak chat completions" in shown
    assert "not taken  provider.local.options.timeout: no counterpart" in shown
    assert "not taken  theme: no counterpart" in shown
    assert imported("opencode-openrouter.jsonc")["default"] == "openrouter,moonshotai/kimi-k2-0905"
    assert "provider.groq: it is disabled" in capsys.readouterr().out


ONE = "model_list: [{model_name: k, litellm_params: {model: moonshot/k}}]"
BROKEN = [
    "",
    "- 1\n- 2",
    "model_list: 7",
    "model_list: [7, {}, {model_name: x}, {model_name: [], litellm_params: {model: {}}}]",
    "model_list: [{model_name: k, litellm_params: {model: moonshot/k, api_key: 7, temperature: 2024-01-01}}]",
    f"{ONE[:-3]}, seed: 99999999999999999999999}}}}]\nrouter_settings: 7",
    ONE + "\nlitellm_settings: {fallbacks: [7, {k: 7}, {z: [k]}]}",
    ONE
    + "\nrouter_settings: {num_retries: -1, timeout: x, routing_strategy: [1], model_group_alias: {a: 7, b: nobody}}",
    "model_list: [{model_name: 'a b', litellm_params: {model: moonshot/k, headers: {x: {}}, weight: true}}]",
]


@pytest.mark.parametrize("text", BROKEN)
def test_files_that_are_not_what_they_should_be(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.yaml").write_text(text)
    assert run(["import", "litellm", "broken.yaml"]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
    if Path("config.json").exists():
        parse_config(Path("config.json").read_text(), "config.json", Path(), EverySet())


KIMI = "{model: moonshot/kimi-k2.6, api_key: k"
WRONG = [
    ("{model: moonshot/b, api_key: os.environ/TWO WORDS}", "api_key: a key must be made of visible"),
    ("{model: moonshot/b, headers: {'x y': z}}", "headers"),
    ("{model: moonshot/b, extra_body: {stream: true}}", "'stream' is the client's to decide"),
]


@pytest.mark.parametrize(("params", "reason"), WRONG)
def test_one_wrong_model_does_not_spoil_the_others(
    params: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    models = f"[{{model_name: a, litellm_params: {params}}}, {{model_name: b, litellm_params: {KIMI}}}}}]"
    Path("litellm.yaml").write_text(f"model_list: {models}\nrouter_settings: {{fallbacks: {{b: [a]}}}}")
    assert run(["import", "litellm", "litellm.yaml"]) == 0
    shown = capsys.readouterr().out
    (line,) = [each for each in shown.splitlines() if each.startswith("not taken  model_list[0] (a): ")]
    assert reason in line
    assert "not taken  router_settings.fallbacks: not a list" in shown
    (provider,) = json.loads(Path("config.json").read_text())["providers"]
    assert provider["models"] == ["kimi-k2.6"]


def test_headers_and_prices_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    one = f"{{model_name: a, litellm_params: {KIMI}, extra_headers: {{x-a: b}}, input_cost_per_token: 0.000001}}}}"
    Path("litellm.yaml").write_text(f"model_list: [{one}]")
    assert run(["import", "litellm", "litellm.yaml"]) == 0
    shown = capsys.readouterr().out
    assert "taken      model_list[0]: headers: x-a\n" in shown
    assert "not taken  model_list[0]: its price needs both costs\n" in shown


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: [1", "broken.yaml:1:6: not valid YAML"),
        ("a: !!python/object/apply:os.system ['true']", "not valid YAML"),
        ("a: \x07", "not valid YAML"),
        ("a: &a [*a]", "nested deeper than"),
        (
            "\n".join(["a: &a0 [1,1]", *(f"b{n}: &a{n + 1} [{f'*a{n},' * 9}]" for n in range(9))]),
            "more than 100000 values",
        ),
        ("[" * 5000, "broken.yaml"),
    ],
)
def test_hostile_yaml(text: str, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.yaml").write_text(text)
    assert run(["import", "litellm", "broken.yaml"]) == 2
    assert error in capsys.readouterr().err


@pytest.mark.parametrize(
    "value",
    [
        {"provider": 7},
        {"provider": {"x": 7, "y": {"models": 7}, "z": {"options": 7, "models": {"m": 7}}}},
        {"provider": {"openai": {"models": {"m": {"id": 7, "cost": 7}}, "options": {"headers": 7}}}, "model": 7},
        {"provider": {"openai": {"models": {"m": {"cost": {"input": True, "output": -1}}}}}, "model": "x"},
    ],
)
def test_broken_files_of_opencode(value: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write(value, "opencode.json")
    assert run(["import", "opencode", "opencode.json"]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)
    shutil.copy(FOLDER / "litellm-small.yaml", "l.yaml")
    assert run(["import", "litellm", "l.yaml"]) == 2
    assert "pip install 'moongate[yaml]'" in capsys.readouterr().err


def test_a_wrong_provider_of_opencode_does_not_spoil_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    address = {"baseURL": "https://api.example.com/v1"}
    right: dict[str, Any] = {"options": address, "models": {"m": {}}}
    wrong = {**right, "options": {**address, "apiKey": "{file:~/there-is-no-such-key}"}}
    write({"provider": {"a": wrong, "b b": right, "b-b": right, "c": {**right, "models": {"": {}}}}}, "opencode.json")
    assert run(["import", "opencode", "opencode.json"]) == 0
    config = json.loads(Path("config.json").read_text())
    assert [each["name"] for each in config["providers"]] == ["b-b"]
    shown = capsys.readouterr().out
    assert "not taken  provider.a: api_key: the key file '~/there-is-no-such-key' cannot be read" in shown
    assert "not taken  provider.b-b: another provider has this name" in shown
    assert "not taken  provider.c: models[0]: expected text" in shown


LITELLM = """
model_list:
  - model_name: kimi-k2
    litellm_params: {model: openrouter/moonshotai/kimi-k2}
  - model_name: kimi-k2
    litellm_params: {model: openai/kimi-k2, api_base: "http://gpu:8000/v1"}
  - model_name: glm
    litellm_params: {model: openrouter/z-ai/glm-4.6}
  - model_name: own
    litellm_params: {model: openai/glm, api_base: "http://gpu:8000/v1"}
"""


def test_what_litellms_router_sets_wins_over_its_general_settings(capsys: pytest.CaptureFixture[str]) -> None:
    router = "router_settings: {num_retries: 2, timeout: 30}\n"
    general = "litellm_settings: {num_retries: 5, request_timeout: 600, allowed_fails: 7}\n"
    Path("litellm.yaml").write_text(LITELLM + general + router)
    assert run(["import", "litellm", "litellm.yaml"]) == 0
    config = json.loads(Path("config.json").read_text())
    assert config["retries"] == {"retries": 2, "failures": 7}
    assert config["timeouts"] == {"whole": 30}
    shown = capsys.readouterr().out
    assert "taken      router_settings.num_retries: retries.retries" in shown
    assert "not taken  litellm_settings.num_retries: another setting says what retries.retries is" in shown
    assert "not taken  litellm_settings.request_timeout: another setting says what timeouts.whole is" in shown


def test_names_of_litellm_that_are_names_of_models_too(capsys: pytest.CaptureFixture[str]) -> None:
    Path("litellm.yaml").write_text(LITELLM)
    assert run(["import", "litellm", "litellm.yaml"]) == 0
    config = json.loads(Path("config.json").read_text())
    targets = [{"model": "openrouter,moonshotai/kimi-k2"}, {"model": "openai,kimi-k2"}]
    assert config["routes"]["kimi-k2"]["targets"] == targets
    assert config["aliases"] == {"own": "openai,glm"}
    shown = capsys.readouterr().out
    assert "not taken  glm: here it is the name of openai,glm; ask for openrouter,z-ai/glm-4.6" in shown
