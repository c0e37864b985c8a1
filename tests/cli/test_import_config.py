"""`moongate import ccr` as a user runs it. The files are our own, after the public documentation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import run, write

pytestmark = pytest.mark.usefixtures("folder")


def provider(name: str = "p", *models: str, use: Any = None, **more: Any) -> dict[str, Any]:
    chain = {} if use is None else {"transformer": {"use": use}}
    url = "https://api.example.com/v1/chat/completions"
    return {"name": name, "api_base_url": url, "api_key": "$P_KEY", "models": list(models or ("m",)), **chain, **more}


FILES: dict[str, dict[str, Any]] = {
    "one provider": {"Providers": [provider()], "Router": {"default": "p,m"}},
    "kimi": {
        "Providers": [provider("siliconflow", "moonshotai/Kimi-K2-Instruct", use=[["maxtoken", {"max_tokens": 9}]])]
    },
    "per model": {
        "Providers": [
            provider(
                "q", "a", "b", transformer={"use": ["deepseek"], "a": {"use": ["tooluse"]}, "b": {"use": ["reasoning"]}}
            )
        ]
    },
    "enhanced": {"Providers": [provider("d", "qwen", use=[["MaxToken", {"max_tokens": 65536}], "enhancetool"])]},
    "sampled": {"Providers": [provider("s", use=[["sampling", {"temperature": 0.2}], "cleancache"])]},
    "routed": {"Providers": [provider("o", "kimi", use=["openrouter", ["openrouter", {"provider": {"only": ["x"]}}]])]},
    "shared": {
        "APIKEY": "a-client-key-of-32-characters-xx",
        "HOST": "0.0.0.0",
        "PORT": 3456,
        "Providers": [provider()],
    },
    "proxied": {"PROXY_URL": "http://127.0.0.1:7890", "Providers": [provider()], "LOG": True, "API_TIMEOUT_MS": 600000},
    "rules": {
        "Providers": [provider("a", "x", "y"), provider("b b", "z")],
        "Router": {"default": "a,x", "background": "a,y", "think": "b b,z", "longContextThreshold": 60000},
    },
    "mixed": {
        "Providers": [provider(), provider("g", use=["gemini"])],
        "Router": {"default": "p,m", "webSearch": "g,m"},
    },
}


def imported(value: Any) -> dict[str, Any]:
    write(value, "ccr.json")
    assert run(["import", "ccr", "ccr.json"]) == 0
    found: dict[str, Any] = json.loads(Path("config.json").read_text())
    return found


@pytest.mark.parametrize("name", FILES)
def test_ten_files_import_and_are_valid(name: str) -> None:
    imported(FILES[name])
    assert run(["check"], P_KEY="sk-example") == 0


def test_what_becomes_of_each_part(capsys: pytest.CaptureFixture[str]) -> None:
    chain = imported(FILES["kimi"])["providers"][0]["transformer"]
    assert chain["use"] == [["maxtoken", {"max_tokens": 9}]]
    assert chain["moonshotai/Kimi-K2-Instruct"] == {"use": [["Kimi", {"preset": "agent"}]]}
    Path("config.json").unlink()
    rules = imported(FILES["rules"])
    assert rules["default"] == "a,x"
    assert rules["aliases"] == {"claude-*haiku*": "a,y", "claude-*": "a,x", "think": "b-b,z"}
    shown = capsys.readouterr().out
    assert "not taken  Router.longContextThreshold: no counterpart" in shown
    Path("config.json").unlink()
    shared = imported(FILES["shared"])
    assert (shared["host"], shared["port"], shared["api_keys"]) == ("0.0.0.0", 3456, [FILES["shared"]["APIKEY"]])
    Path("config.json").unlink()
    mixed = imported(FILES["mixed"])
    assert [each["name"] for each in mixed["providers"]] == ["p"]
    shown = capsys.readouterr().out
    assert "needs the transformer 'gemini'" in shown
    assert "Router.webSearch: 'g,m' is no model of a provider that was taken" in shown


def test_an_open_host_needs_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert "host" not in imported({"HOST": "0.0.0.0", "Providers": [provider()]})
    assert "not taken  HOST: 0.0.0.0" in capsys.readouterr().out


def test_a_variable_may_be_the_key_of_an_open_host() -> None:
    config = imported({"APIKEY": "$CCR_KEY", "HOST": "0.0.0.0", "Providers": [provider()]})
    assert (config["host"], config["api_keys"]) == ("0.0.0.0", ["$CCR_KEY"])


def test_parameters_of_the_provider_and_of_a_model_are_both_sent() -> None:
    only = {"provider": {"only": ["x"]}}
    chains = {"use": [["openrouter", only]], "a": {"use": [["customparams", {"top_k": 5}]]}}
    (made,) = imported({"Providers": [provider("o", "a", "b", transformer=chains)]})["providers"]
    assert made["transformer"] == {
        "use": [["customparams", only]],
        "a": {"use": [["customparams", {**only, "top_k": 5}]]},
    }


def test_what_is_left_out_of_a_provider_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    odd = provider(api_key=["a", "b"], models=["m", {"name": "n"}], transformer={"gone": {"use": ["tooluse"]}})
    imported({"Providers": [odd]})
    shown = capsys.readouterr().out
    assert "not taken  Providers[0].models: {'name': 'n'} is no name" in shown
    assert "not taken  Providers[0].api_key: not a text" in shown
    assert "not taken  Providers[0].transformer.gone: no model of this provider" in shown


KEY_OF_THE_README = "your-secret-key"


def test_a_key_that_can_be_guessed_does_not_open_a_host(capsys: pytest.CaptureFixture[str]) -> None:
    config = imported({"APIKEY": KEY_OF_THE_README, "HOST": "0.0.0.0", "Providers": [provider()]})
    assert "host" not in config
    assert config["api_keys"] == [KEY_OF_THE_README]
    assert "without a key of at least 16 characters" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("port", "taken"), [("3456", 3456), (1, 1), ("x", None), (0, None), (70000, None), (True, None)]
)
def test_ports(port: Any, taken: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    assert imported({"PORT": port, "Providers": [provider()]}).get("port") == taken
    assert (f"taken      PORT: {taken}" if taken else f"not taken  PORT: {port!r}") in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (provider("w", api_base_url="z.example"), "(w): api_base_url: expected a URL"),
        (
            provider("w", use=[["maxtoken", {"max_tokens": "9"}]]),
            "(w): transformer.use[0][1].max_tokens: must be a whole number",
        ),
        (provider("p"), "(p): another provider has this name"),
    ],
)
def test_a_wrong_provider_does_not_spoil_the_others(
    wrong: Any, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    config = imported({"Providers": [provider(), wrong], "Router": {"default": "p,m", "think": "w,m"}})
    assert [each["name"] for each in config["providers"]] == ["p"]
    shown = capsys.readouterr().out
    assert f"not taken  Providers[1] {reason}" in shown
    assert "provider w" not in shown


def test_a_model_that_is_listed_twice_is_taken_once(capsys: pytest.CaptureFixture[str]) -> None:
    config = imported({"Providers": [provider("p", "a", "b", "a")], "Router": {"default": "p,a"}})
    assert config["providers"][0]["models"] == ["a", "b"]
    shown = capsys.readouterr().out
    assert "taken      Providers[0]: provider p with 2 models" in shown
    assert "not taken  Providers[0].models: 'a' is listed twice" in shown


def test_an_address_of_messages_is_a_dialect() -> None:
    native = provider(
        "kimi", "kimi-k2.5", use=["Anthropic"], api_base_url="https://api.moonshot.ai/anthropic/v1/messages"
    )
    (made,) = imported({"Providers": [native]})["providers"]
    assert made["dialect"] == "anthropic"
    assert made["transformer"] == {"kimi-k2.5": {"use": [["Kimi", {"preset": "agent"}]]}}
    assert run(["check"], P_KEY="sk-example") == 0


def test_beside_kimi_a_plugin_is_left_out_alone(capsys: pytest.CaptureFixture[str]) -> None:
    (made,) = imported({"Providers": [provider("kimi", "moonshot-v1-8k", use=["Kimi", "CustomTransformer"])]})[
        "providers"
    ]
    assert made["transformer"] == {"use": [["Kimi", {}]]}
    assert "CustomTransformer is a plugin of another server" in capsys.readouterr().out


def test_one_transformer_without_a_list() -> None:
    (made,) = imported({"Providers": [provider(use="cleancache")]})["providers"]
    assert made["transformer"] == {"use": [["cleancache", {}]]}


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        {"Providers": [{}, 1]},
        {"Providers": [provider(models=7), provider(models="m")]},
        {"Providers": [provider(use=["Anthropic"])]},
    ],
)
def test_nothing_is_written_if_nothing_can_be_served(value: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write(value, "ccr.json")
    assert run(["import", "ccr", "ccr.json"]) == 2
    assert not Path("config.json").exists()
    assert "no provider in it can be served" in capsys.readouterr().err


def test_errors_about_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "ccr", "missing.json"]) == 2
    Path("bytes.json").write_bytes(b"\xff")
    assert run(["import", "ccr", "bytes.json"]) == 2
    imported(FILES["one provider"])
    assert run(["import", "ccr", "ccr.json"]) == 2
    shown = capsys.readouterr().err
    assert "missing.json: cannot be read" in shown
    assert "bytes.json: not UTF-8" in shown
    assert "config.json: is there already" in shown
    assert run(["import", "ccr", "ccr.json", "-o", "other.json"]) == 0


def test_serve_and_check_name_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    write(FILES["one provider"])
    for command in ("check", "serve"):
        assert run([command]) == 2
        assert "a configuration of claude-code-router: moongate import ccr config.json" in capsys.readouterr().err


def test_adapters_that_set_a_limit_set_it_here(capsys: pytest.CaptureFixture[str]) -> None:
    chains = {"use": ["DeepSeek"], "b": {"use": ["glm"]}}
    (made,) = imported({"Providers": [provider("d", "a", "b", transformer=chains)]})["providers"]
    assert made["transformer"] == {
        "use": [["maxtoken", {"max_tokens": 8192}]],
        "b": {"use": [["maxtoken", {"max_tokens": 128_000}]]},
    }
    assert "taken      Providers[0].transformer.use: DeepSeek, as the limit of tokens" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "end", "dialect"),
    [
        ("anthropic", "messages", "anthropic"),
        ("AnthropicTransformer", "messages", "anthropic"),
        ("openai-responses", "responses", "responses"),
    ],
)
def test_a_transformer_that_stands_for_a_dialect(name: str, end: str, dialect: str) -> None:
    url = f"https://api.example.com/v1/{end}"
    (made,) = imported({"Providers": [provider("n", use=[name], api_base_url=url)]})["providers"]
    assert (made["dialect"], "transformer" in made and made["transformer"]) == (dialect, {})


def test_what_nothing_stands_for_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    imported({"PROXY_URL": "socks5://127.0.0.1:1080", "Providers": [provider(icon="x")]})
    shown = capsys.readouterr().out
    assert "not taken  PROXY_URL: p is asked without it" in shown
    assert "not taken  Providers[0].icon: no counterpart" in shown


def test_providers_in_capital_letters() -> None:
    given = {"NAME": "z", "HOST": "https://api.example.com/v1", "APIKEY": "$P_KEY", "MODELS": ["m"]}
    (made,) = imported({"Providers": [given]})["providers"]
    assert (made["name"], made["api_base_url"], made["api_key"]) == ("z", given["HOST"], "$P_KEY")


def test_fallbacks_of_rules(capsys: pytest.CaptureFixture[str]) -> None:
    fallback = {"default": ["b b,z", "a,x", "gone,m"], "think": ["a,y"], "webSearch": ["a,y"], "image": "a,y"}
    config = imported({**FILES["rules"], "fallback": fallback})
    assert config["providers"][0]["models"] == [{"name": "x", "fallback": ["b-b,z"]}, "y"]
    assert config["providers"][1]["models"] == [{"name": "z", "fallback": ["a,y"]}]
    shown = capsys.readouterr().out
    assert "taken      fallback.default: a,x falls back to b-b,z" in shown
    assert "not taken  fallback.default: 'gone,m' is no model of a provider that was taken" in shown
    assert "not taken  fallback.webSearch: nothing was taken of Router.webSearch" in shown
