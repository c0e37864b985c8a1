from __future__ import annotations

import io
import sys
from pathlib import Path

from moongate.cli.terminal import Colours, command, fitted


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def executable(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_colour_only_on_a_terminal_that_supports_it() -> None:
    xterm = {"TERM": "xterm"}
    assert Colours(Screen(), xterm)("x", "red") == "\033[31mx\033[0m"
    assert Colours(io.StringIO(), xterm)("x", "red") == "x"
    assert Colours(Screen(), {**xterm, "NO_COLOR": ""})("x", "red") == "x"
    assert Colours(Screen(), {"TERM": "dumb"})("x", "red") == "x"


def test_long_lines_are_folded_on_a_terminal_only() -> None:
    line = "    repairs: " + ", ".join(f"word-{number}" for number in range(12))
    assert fitted(line, io.StringIO(), 50) == line
    first, *more = fitted(line, Screen(), 50).split("\n")
    assert first.startswith("    repairs: word-0,")
    assert all(each.startswith("      word-") and len(each) <= 50 for each in more)
    assert fitted("short", Screen(), 50) == "short"


def test_the_printed_command_can_be_pasted(tmp_path: Path) -> None:
    found, hidden = executable(tmp_path / "bin" / "moongate"), executable(tmp_path / "a b" / "moongate")
    path = str(tmp_path / "bin")
    for program, printed in {
        str(found): "moongate",
        str(hidden): f"'{hidden}'",
        str(tmp_path / "gone" / "moongate"): "moongate",
        "/somewhere/pytest": "moongate",
        "/somewhere/moongate/__main__.py": f"{sys.executable} -m moongate",
    }.items():
        assert command(program, search_path=path) == printed
    python = str(executable(tmp_path / "bin" / "python3"))
    assert command("/somewhere/moongate/__main__.py", python, path) == "python3 -m moongate"
