"""`moongate check` as a user runs it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.cli.sample import CONFIG, run, write

from moongate.gateway.config.schema import json_schema

pytestmark = pytest.mark.usefixtures("folder")


def test_check_describes_the_configuration_without_secrets(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run(["check"]) == 0
    shown = capsys.readouterr()
    assert "https://api.example.com/v1/chat/completions" in shown.out
    assert "manualToolParsing: true" in shown.out
    assert "fallback: p,kimi-k2" in shown.out
    assert "claude-* → kimi-k2" in shown.out
    assert "names: kimi-k3, best, p,kimi-k3" in shown.out
    assert "chain: CustomTransformer" in shown.out
    assert "chain: (none)" in shown.out
    assert "the key travels unencrypted to http://10.0.0.1" in shown.err
    assert "is a placeholder and does nothing" in shown.err
    assert "canary" not in shown.out + shown.err
    assert "\033" not in shown.out + shown.err


def test_check_shows_what_was_recognised_then_changed_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(
        {
            "name": "moon",
            "api_base_url": "https://api.moonshot.ai",
            "models": ["kimi-k2.6", "other"],
            "transformer": {"use": ["Kimi"], "other": {"use": [["Kimi", {"idPrefix": "fn", "host": "vllm"}]]}},
        }
    )
    assert run(["check"]) == 0
    first, second = capsys.readouterr().out.split("    chain: Kimi\n")[1:]
    assert first.split("\n")[:5] == [
        "      host: moonshot (the base URL's host is api.moonshot.ai)",
        "      model: family k2, generation k2.6 (the name 'kimi-k2.6' says K2.6)",
        "      repairs: ids of calls, finish_reason, history, reasoning in the history, parameters, "
        "tool schemas and names",
        "      not repaired: calls written as markers (manualToolParsing), arguments (repairArguments)",
        "      options: 21, all at their defaults (--all shows them)",
    ]
    assert "      host: vllm (the option host says vllm)\n" in second
    assert "      repairs: ids of calls, finish_reason, history, reasoning in the history\n" in second
    assert '      options (19 more at their defaults: --all):\n        idPrefix: "fn"\n        host: "vllm"\n' in second
    assert "counterScope" not in first + second
    assert run(["check", "--all"]) == 0
    shown = capsys.readouterr().out
    assert shown.count('        counterScope: "conversation"\n') == 2
    assert "--all" not in shown


@pytest.mark.parametrize(
    ("model", "recognised"),
    [
        ("kimi-k3.1-pro", "family k3, generation k3.1 (the name 'kimi-k3.1-pro' says K3.1 Pro)"),
        ("kimi-k3", "family k3, generation k3 (the name 'kimi-k3' says K3)"),
        ("kimi-for-coding", "family k2, generation k2.8 (the name 'kimi-for-coding' says K2.8)"),
    ],
)
def test_check_knows_the_generations(capsys: pytest.CaptureFixture[str], model: str, recognised: str) -> None:
    chain = {"use": [["Kimi", {"host": "vllm"}]]}
    write({"name": "moon", "api_base_url": "https://llm.example", "models": [model], "transformer": chain})
    assert run(["check"]) == 0
    shown = capsys.readouterr().out
    assert f"      model: {recognised}\n" in shown
    assert ("history, parameters\n" in shown) is (model != "kimi-for-coding")


def test_check_takes_the_file_from_the_environment(capsys: pytest.CaptureFixture[str]) -> None:
    write({**CONFIG, "api_keys": "none"}, "other.json")
    assert run(["check"], MOONGATE_CONFIG="other.json") == 0
    shown = capsys.readouterr()
    assert shown.out.endswith("ok other.json\n")
    assert "every program on this machine" in shown.err


def test_check_prints_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--schema"]) == 0
    assert capsys.readouterr().out == json_schema()


def test_check_lists_every_mistake_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong values, secrets, options and references, in several providers."""
    use = {"use": [["Kimi", {"preset": "agnt"}]]}
    write(
        {
            "providers": [
                {
                    "name": "a",
                    "api_base_url": "nonsense",
                    "api_key": "$NOT_SET",
                    "models": ["m", "n"],
                    "transformer": use,
                },
                {
                    "name": "b",
                    "api_base_url": "https://b",
                    "models": [{"name": "o", "fallback": "zz"}],
                    "ca_file": "no",
                },
            ],
            "aliases": {"claude-*": "yy"},
            "default": "xx",
            "api_keys": ["$NOT_THERE"],
        }
    )
    assert run(["check"]) == 2
    lines = capsys.readouterr().err.rstrip("\n").split("\n")
    places = [line.removeprefix("moongate: config.json:1: ").split(": ")[0] for line in lines]
    assert places == [
        "providers[0].api_base_url",
        "providers[0].api_key",
        "providers[0].transformer.use[0][1].preset",
        "providers[1].ca_file",
        "api_keys[0]",
        "providers[1].models[0].fallback",
        'aliases["claude-*"]',
        "default",
    ]


def test_check_looks_behind_wrong_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    good = {"name": "b", "api_base_url": "https://b", "api_key": "$NOT_SET", "models": ["m"]}
    write({"providers": [{"name": 1, "modles": []}, good], "port": "x"})
    assert run(["check"]) == 2
    lines = capsys.readouterr().err
    for each in ("providers[0].name: ", "providers[0].modles: ", "'api_base_url' is missing", "port: ", "'NOT_SET'"):
        assert each in lines
    assert lines.count("\n") == 5


def test_check_warns_about_a_kimi_model_without_kimi(capsys: pytest.CaptureFixture[str]) -> None:
    write({"name": "p", "api_base_url": "https://p", "models": ["moonshotai/Kimi-K2.6", "other"]})
    assert run(["check"]) == 0
    warning = capsys.readouterr().err
    assert warning.startswith("warning: p,moonshotai/Kimi-K2.6: a Kimi model without Kimi in its chain")
    assert warning.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "moongate: there is no config.json here: write one with 'moongate init', or name one with --config\n"),
        ({**CONFIG, "default": "kimi-k9"}, "moongate: config.json:1: default: no model 'kimi-k9', did you mean"),
    ],
)
def test_check_rejects(content: Any, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        write(content)
    assert run(["check"]) == 2
    assert capsys.readouterr().err.startswith(message)
