"""`moongate init` as a user runs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.cli.sample import run, run_interactively, write

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize(
    "provider", ["moonshot", "openrouter", "siliconflow", "together", "fireworks", "vllm", "sglang"]
)
def test_init_writes_what_check_accepts(provider: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", provider]) == 0
    assert Path("config.json").stat().st_mode & 0o777 == 0o600
    names = ("MOONSHOT", "OPENROUTER", "SILICONFLOW", "TOGETHER", "FIREWORKS")
    assert run(["check"], **{f"{name}_API_KEY": "sk-canary" for name in names}) == 0
    assert "manualToolParsing: true" in capsys.readouterr().out


def test_init_names_the_models_of_agents_and_no_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "vllm"]) == 0
    assert run(["check"]) == 0
    shown = capsys.readouterr().out
    assert "claude-* → moonshotai/Kimi-K2-Instruct-0905" in shown
    assert "gpt-* → moonshotai/Kimi-K2-Instruct-0905" in shown
    assert "default" not in shown.split("aliases")[1]


@pytest.mark.parametrize(
    ("provider", "generations"),
    [
        ("moonshot", ["k3.1", "k3", "k2.7", "k2.6"]),
        ("openrouter", ["k3", "k2.7", "k2.6"]),
        ("together", ["k3", "k2.7", "k2.5"]),
        ("fireworks", ["k3", "k2.7"]),
    ],
)
def test_init_offers_what_kimi_is_today(
    provider: str, generations: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["init", provider, "--preset", "strict"]) == 0
    assert run(["check"], **{f"{provider.upper()}_API_KEY": "sk-canary"}) == 0
    shown = capsys.readouterr().out
    assert re.findall(r"generation ([\w.]+)", shown) == generations
    assert 'guard: "retry"' in shown


def test_init_takes_flags(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--url", "http://127.0.0.1:9", "--key", "$MINE", "--model", "a", "--model", "b", "--preset", "default"]
    assert run(["init", "other", *flags, "-o", "x.json"]) == 0
    assert "export MINE=" in capsys.readouterr().out
    text = Path("x.json").read_text()
    assert '"api_key": "$MINE"' in text
    assert '"a",' in text
    assert '"b",' in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "moongate: no terminal to ask at: say which provider: moongate init moonshot|"),
        (["other"], "moongate: no terminal to ask at: moongate init other needs --url URL and --model MODEL, too"),
        (
            ["other", "--url", "http://x"],
            "moongate: no terminal to ask at: moongate init other needs --model MODEL, too",
        ),
        (["vllm", "--url", "nonsense"], "moongate: (new configuration):6: providers[0].api_base_url: expected a URL"),
    ],
)
def test_init_rejects(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", *arguments]) == 2
    assert capsys.readouterr().err.startswith(message)
    assert not Path("config.json").exists()


def test_init_overwrites_nothing_unless_forced(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run(["init", "vllm"]) == 2
    assert "config.json: is there already: --force overwrites it, -o FILE writes another" in capsys.readouterr().err
    assert run(["init", "vllm", "-o", "other.json"]) == 0
    assert "check --config other.json" in capsys.readouterr().out
    assert run(["init", "vllm", "--force"]) == 0
    assert list(Path().glob(".config.json-*")) == []


def test_a_missing_folder_is_an_error_without_a_traceback(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert run(["init", "moonshot", "-o", "nowhere/config.json"]) == 2
    assert "nowhere/config.json: cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answers", "key"),
    [
        (["MY_KEY"], '"api_key": "$MY_KEY"'),
        (["sk-canary-1", "$mine"], '"api_key": "$mine"'),
        (["file:k"], '"api_key": "file:k"'),
        ([""], None),
    ],
)
def test_init_asks_for_everything_of_another_provider(
    answers: list[str], key: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("k").write_text("x")
    assert run_interactively(["init"], ["9", "8", "127.0.0.1:9/v1", "http://127.0.0.1:9/v1", "", "m", *answers]) == 0
    text = Path("config.json").read_text()
    assert '"api_base_url": "http://127.0.0.1:9/v1"' in text
    assert key in text if key else '"api_key":' not in text
    shown = capsys.readouterr().out
    assert "then: moongate check && moongate serve\n" in shown
    assert ("without a key" in shown) is (key is None)
    assert "canary" not in text + shown


def test_init_checks_that_it_may_write_before_it_asks(capsys: pytest.CaptureFixture[str]) -> None:
    write()
    assert run_interactively(["init"], []) == 2
    assert "is there already" in capsys.readouterr().err


def test_the_end_of_the_input_ends_the_questions() -> None:
    assert run_interactively(["init"], []) == 130
