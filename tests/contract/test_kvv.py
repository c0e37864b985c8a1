"""The runner, with a stand-in that has the layout and the flags of the real checkout and a few tests of each suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.kvv import SUITES, SuiteResult, interpreter, main, report

FLAGS = """
import json, os, urllib.error, urllib.request
import pytest

def pytest_addoption(parser):
    for name in ("base-url", "api-key", "smoke-model"):
        parser.addoption("--" + name)
    parser.addoption("--think-mode", choices=["kimi", "opensource", "none"], default="kimi")
    parser.addoption("--thinking", action="store_true")
    parser.addoption("--max-tokens", type=int, default=2048)

@pytest.fixture
def ask(pytestconfig):
    def ask(**fields):
        messages = [{"role": "user", "content": "hi"}]
        body = {"model": pytestconfig.getoption("smoke_model"), "messages": messages, **fields}
        request = urllib.request.Request(
            pytestconfig.getoption("base_url") + "/chat/completions",
            json.dumps(body).encode(),
            {"content-type": "application/json", "authorization": "Bearer " + pytestconfig.getoption("api_key")},
        )
        try:
            with urllib.request.urlopen(request) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, None
    return ask
"""
FEATURES = """
import os
import pytest

@pytest.mark.parametrize("mode", ["nostream"])
def test_response_format_prompt_tokens_without(ask, mode):
    assert ask()[1]["usage"]["prompt_tokens"] == -1

@pytest.mark.parametrize("name", ["nostream-starts_with_number"])
def test_invalid_dynamic_tool_name_rejected(ask, name):
    tool = {"type": "function", "function": {"name": "9lives", "parameters": {"type": "object"}}}
    assert ask(tools=[tool])[0] == 400

def test_text_default(ask):
    assert ask(response_format={"type": "text"})[0] == 200

@pytest.mark.skip(reason="as upstream")
def test_named(ask):
    pass

def test_environment():
    assert "KIMI_BASE_URL" not in os.environ
"""
PARAMS = """
def test_wrong_param_rejected(ask):
    assert ask(temperature=2.0)[0] == 400
"""
SCHEMAS = """
def test_tool_call_arguments(ask):
    schema = {"type": "object", "properties": {"value": {"type": "integer"}}, "required": ["value"]}
    tool = {"type": "function", "function": {"name": "kvv_walle_case", "parameters": schema, "strict": True}}
    status, answer = ask(tools=[tool], tool_choice="required", thinking={"type": "disabled"}, max_tokens=2048)
    assert status == 200
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "kvv_walle_case"
"""


@pytest.fixture(autouse=True)
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run of pytest would import the plugins of this environment, which the stand-in does not need."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    tests = tmp_path / "tests"
    for suite, text in zip(SUITES, (FEATURES, PARAMS, SCHEMAS), strict=True):
        (tests / suite).mkdir(parents=True)
        (tests / suite / f"test_{suite}.py").write_text(text, encoding="utf-8")
    (tests / "conftest.py").write_text(FLAGS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return tmp_path


def test_one_command_runs_everything_and_prints_the_table(
    checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIMI_BASE_URL", "http://127.0.0.1:1")
    assert main([str(checkout)]) == 0
    table = capsys.readouterr().out
    for line in (
        "| k3_features | simulator | 3 | 0 | 0 | 1 | 1 |",
        "| k3_features | gateway | 2 | 0 | 1 | 1 | 1 |",
        "| k3_features | gateway, rules off | 3 | 0 | 0 | 1 | 1 |",
        "| params | simulator | 1 | 0 | 0 | 0 | 0 |",
        "| params | gateway | 0 | 0 | 1 | 0 | 0 |",
        "| params | gateway, rules off | 1 | 0 | 0 | 0 | 0 |",
        "| tool_call_json_schema | gateway | 1 | 0 | 0 | 0 | 0 |",
    ):
        assert line in table


def test_a_failure_is_named(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "tests" / "params" / "test_params.py").write_text(
        "def test_it():\n    assert False\n", encoding="utf-8"
    )
    assert main([str(checkout), "--suite", "params"]) == 1
    assert "failed: simulator: tests.params.test_params::test_it" in capsys.readouterr().out


def test_what_cannot_be_run_is_reported(checkout: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (checkout / "tests" / "conftest.py").write_text("import no_such_package\n", encoding="utf-8")
    assert main([str(checkout), "--suite", "params"]) == 2
    assert "no_such_package" in capsys.readouterr().out
    assert main([str(tmp_path / "nowhere"), "--suite", "params"]) == 2
    assert "is this a checkout" in capsys.readouterr().out


def test_which_python_runs_it(tmp_path: Path) -> None:
    own = tmp_path / ".venv" / "bin" / "python"
    assert interpreter(tmp_path, "/x") == "/x"
    assert interpreter(tmp_path, None) != str(own)
    own.parent.mkdir(parents=True)
    own.touch()
    assert interpreter(tmp_path, None) == str(own)


def test_the_table_of_nothing() -> None:
    assert report([SuiteResult("params", "simulator", trouble="x")]).endswith(
        "could not be run: params against simulator: x"
    )


def test_one_reason_for_all_targets_is_told_once() -> None:
    trouble = "ModuleNotFoundError: No module named 'openai'"
    text = report([SuiteResult("params", name, trouble=trouble) for name in ("simulator", "gateway")])
    assert f"could not be run: params against simulator, params against gateway: {trouble}\n" in text
    assert text.endswith("name a --python that has them.")
