"""What all commands share, and the commands that need no file of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.sample import write

from moongate import __version__
from moongate.cli import COMMANDS, main
from moongate.cli.providers import PROVIDERS

pytestmark = pytest.mark.usefixtures("folder")


def exit_code(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*arguments) == 0
    shown = capsys.readouterr().out
    assert "usage: moongate" in shown
    assert f"example{'s' if arguments[0] in ('init', 'replay', 'verify', 'completion') else ''}:\n  moongate " in shown
    usage = shown.partition("\n\n")[0]
    assert re.findall(r"(?:WORKERS|OUTPUT|REQUEST|CONTENT_TYPE|(?<!-)\bfile\b|\{\w+,\w+,\w+)", usage) == []


@pytest.mark.parametrize("name", ["", "check", "serve", "replay"])
def test_the_help_lists_the_exit_codes(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(*([name] if name else []), "--help") == 0
    assert "exit codes: 0 " in capsys.readouterr().out


def test_the_help_of_init_lists_the_providers(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("init", "--help") == 0
    shown = capsys.readouterr().out
    assert [name for name in PROVIDERS if f"\n  {name} " not in shown] == []


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--version") == 0
    assert capsys.readouterr().out == f"moongate {__version__}\n"


@pytest.mark.parametrize("arguments", [["nonsense"], ["serve", "--nonsense"], ["connect", "nobody"]])
def test_a_wrong_command_line_ends_with_2(arguments: list[str]) -> None:
    assert exit_code(*arguments) == 2


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "commands:" in capsys.readouterr().out


def test_the_module_runs() -> None:
    done = subprocess.run([sys.executable, "-m", "moongate", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("moongate ")


def test_the_simulator_lists_its_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--models"]) == 0
    assert "kimi-k2-sim" in capsys.readouterr().out


def test_the_simulator_takes_only_ports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--port", "99999"]) == 2
    assert "--port: expected 0 … 65535, found 99999" in capsys.readouterr().err


def test_a_terminal_with_a_small_character_set_gets_question_marks(folder: Path) -> None:
    write()
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "moongate", "check", "--config", "config.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=folder)
    assert "claude-* ? kimi-k2" in done.stdout
