"""`moongate check` as a user runs it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
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


def test_a_person_is_told_which_build_runs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    write()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["check"]) == 0
    assert "moongate runs as " in capsys.readouterr().err


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


def test_check_says_what_the_guard_does(capsys: pytest.CaptureFixture[str]) -> None:
    provider = {"name": "p", "api_base_url": "https://llm.example/v1", "models": ["kimi-k2"]}
    write({**provider, "transformer": {"use": [["Kimi", {"preset": "strict"}]]}})
    assert run(["check"]) == 0
    shown = capsys.readouterr()
    assert "reasoning in the history, calls that do not fit their schemas\n" in shown.out
    assert "the guard works on" not in shown.err


def test_check_names_the_repairs_of_another_dialect(capsys: pytest.CaptureFixture[str]) -> None:
    url, use = "https://api.moonshot.ai/anthropic", [["Kimi", {"preset": "strict"}]]
    provider = {"name": "p", "api_base_url": url, "models": ["kimi-k2.6"], "dialect": "anthropic"}
    write({**provider, "transformer": {"use": use}})
    assert run(["check"]) == 0
    shown = capsys.readouterr()
    assert "      repairs: ids of calls, reasoning in the history, tool schemas and names\n" in shown.out
    assert "p,kimi-k2.6: the guard works on chat completions: here no call is checked" in shown.err


def test_check_describes_equal_chains_once(capsys: pytest.CaptureFixture[str]) -> None:
    models = ["kimi-k2.6", "kimi-k2.6-turbo", "kimi-k3", "kimi-k2.6-fast"]
    chain = {"use": [["Kimi", {"preset": "agent"}]]}
    write({"name": "moon", "api_base_url": "https://api.moonshot.ai", "models": models, "transformer": chain})
    assert run(["check"]) == 0
    lines = capsys.readouterr().out.split("\n")
    chains = {line.split()[0]: lines[number + 1].strip() for number, line in enumerate(lines) if "  names: " in line}
    assert chains == {
        "kimi-k2.6": "chain: Kimi",
        "kimi-k2.6-turbo": "chain: as for kimi-k2.6",
        "kimi-k3": "chain: Kimi",  # another generation
        "kimi-k2.6-fast": "chain: as for kimi-k2.6",
    }


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


def test_check_lists_mistakes_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    Path("config.json").write_text(
        """{
          "default": "xx",
          "providers": [{"name": "a", "api_base_url": "https://a", "api_key": "$NOT_SET", "models": ["m"]}],
          "port": 3000,
          "aliases": {"claude-*": "yy"},
          "api_keys": ["$NOT_THERE"]
        }"""
    )
    assert run(["check"]) == 2
    found = [line.split(":")[2] for line in capsys.readouterr().err.splitlines()]
    assert found == ["2", "3", "5", "6"]


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


def test_a_wrong_shape_hides_no_other_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the same provider, and of what names its models."""
    first = {"name": "a", "api_base_url": "https://a", "models": ["m"], "retrys": 2}
    use = {"use": [["Kimi", {"preset": "agnt", "foo": 1, "idPrefix": 3}], ["maxtoken", {"max_tokens": "x", "y": 1}]]}
    second = {
        **first,
        "name": "b",
        "api_base_url": "nonsense",
        "models": ["n"],
        "api_key": ["$NOT_SET", 3],
        "transformer": use,
    }
    write({"providers": [first, second], "aliases": {"claude-*": "yy"}, "default": "xx", "prot": 1})
    assert run(["check"]) == 2
    lines = capsys.readouterr().err.rstrip("\n").split("\n")
    places = [line.removeprefix("moongate: config.json:1: ").split(": ")[0] for line in lines]
    assert places == [
        "prot",
        "providers[0].retrys",
        "providers[1].retrys",
        "providers[1].api_key[1]",
        "providers[1].api_base_url",
        "providers[1].api_key[0]",
        "providers[1].transformer.use[0][1].foo",
        "providers[1].transformer.use[0][1].idPrefix",
        "providers[1].transformer.use[0][1].preset",
        "providers[1].transformer.use[1][1].max_tokens",
        "providers[1].transformer.use[1][1].y",
        'aliases["claude-*"]',
        "default",
    ]


@pytest.mark.parametrize("wrong", [{"models": ["m", 3]}, {"name": 3}, {"models": [{"name": "n", "alias": 3}]}])
def test_a_model_that_could_not_be_read_is_not_called_unknown(
    wrong: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    provider = {"name": "a", "api_base_url": "https://a", "models": ["m"]}
    write(
        {"providers": [{"name": "b", "api_base_url": "https://b", "models": ["n"], **wrong}, provider], "default": "x"}
    )
    assert run(["check"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("short", [True, False])
def test_the_short_forms_hide_no_mistake_either(short: bool, capsys: pytest.CaptureFixture[str]) -> None:
    provider = {"name": "a", "api_base_url": "nonsense", "models": ["m"], "retrys": 2}
    write(provider if short else [provider])
    assert run(["check"]) == 2
    shown = capsys.readouterr().err
    assert "retrys" in shown
    assert "api_base_url" in shown


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


def test_check_says_which_combinations_disturb_kimi(capsys: pytest.CaptureFixture[str]) -> None:
    provider = {"name": "p", "api_base_url": "https://api.moonshot.ai", "models": ["kimi-k2.6"]}
    write({**provider, "transformer": {"use": ["StreamOptionsTransformer", "Kimi", ["Sampling", {"top_p": 0.5}]]}})
    assert run(["check"]) == 0
    shown = capsys.readouterr()
    assert "chain: streamoptions" in shown.out
    assert "chain: sampling\n      options (4 more at their defaults: --all):\n        topP: 0.5" in shown.out
    assert "p,kimi-k2.6: use sampling beside Kimi with caution: it sets parameters again" in shown.err
    assert "streamoptions" not in shown.err


def test_a_transformer_of_ones_own_takes_the_place_of_a_generic_one(capsys: pytest.CaptureFixture[str]) -> None:
    Path("own.py").write_text("from moongate import BaseTransformer\nclass Own(BaseTransformer): pass\n")
    provider = {"name": "p", "api_base_url": "https://api.moonshot.ai", "models": ["kimi-k2.6"]}
    chain = {"transformer": {"use": ["Kimi", "sampling"]}}
    write({"providers": [{**provider, **chain}], "transformers": {"sampling": "own.py:Own"}})
    assert run(["check"]) == 0
    assert "with caution" not in capsys.readouterr().err


def test_check_prints_json_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run(["check", "--json"]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert found["valid"] is True
    assert [(each["provider"], each["model"]) for each in found["models"]] == [
        ("p", "kimi-k2"),
        ("p", "kimi-k3"),
        ("plain", "x"),
    ]
    assert "best" in found["models"][1]["names"]
    assert found["models"][1]["fallback"] == ["p,kimi-k2"]
    assert found["models"][0]["chain"] == ["Kimi", "CustomTransformer"]
    assert found["port"] == 4321
    assert "canary" not in shown.out + shown.err


def test_check_prints_errors_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    write({**CONFIG, "prot": 1, "default": "nobody"})
    assert run(["check", "--json"]) == 2
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert found["valid"] is False
    assert any("prot" in each["place"] + each["message"] for each in found["errors"])
    assert shown.err == ""
