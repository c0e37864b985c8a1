from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from moongate.cli.terminal import Paint, command, fitted


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def executable(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_colour_only_on_a_terminal_that_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert Paint(Screen())("x", "red") == "\033[31mx\033[0m"
    assert Paint(io.StringIO())("x", "red") == "x"
    monkeypatch.setenv("NO_COLOR", "")
    assert Paint(Screen())("x", "red") == "x"


def test_long_lines_are_folded_on_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    line = "    repairs: " + ", ".join(f"word-{number}" for number in range(12))
    assert fitted(line) == line
    monkeypatch.setattr(sys, "stdout", Screen())
    first, *more = fitted(line).split("\n")
    assert first.startswith("    repairs: word-0,")
    assert all(each.startswith("      word-") and len(each) <= 50 for each in more)
    assert fitted("short") == "short"


def test_the_command_that_is_printed_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found, hidden = executable(tmp_path / "bin" / "moongate"), executable(tmp_path / "a b" / "moongate")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for called, told in {
        str(found): "moongate",
        str(hidden): f"'{hidden}'",
        str(tmp_path / "gone" / "moongate"): "moongate",
        "/somewhere/pytest": "moongate",
        "/somewhere/moongate/__main__.py": f"{sys.executable} -m moongate",
    }.items():
        monkeypatch.setattr(sys, "argv", [called])
        assert command() == told
    monkeypatch.setattr(sys, "executable", str(executable(tmp_path / "bin" / "python3")))
    assert command() == "python3 -m moongate"
