"""The command output that the documentation shows is the output of the commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.sample import run
from tests.cli.served import serving

from moongate.cli import command_parser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CONFIG = re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
ANSWER = (
    'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function",'
    '"function":{"name":"f","arguments":"{}"}}]}}]}\n\n'
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
QUOTES = {
    match[1]: match[2]
    for page in PAGES
    for match in re.finditer(r"```text\n\$ moongate ([^\n]*)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
}


def test_the_documentation_quotes_these_commands() -> None:
    assert [command.split()[0] for command in QUOTES] == ["check", "replay"]


@pytest.mark.parametrize("command", QUOTES)
def test_the_output_is_as_documented(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.json").write_text(CONFIG)
    (folder / "answer.sse").write_text(ANSWER)
    assert run(shlex.split(command), OPENROUTER_API_KEY="sk-for-a-test") == 0
    assert capsys.readouterr().out == QUOTES[command]


COMMANDS = [
    (page.name, line)
    for page in PAGES
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    for line in re.findall(r"^(?:moongate|make) [^\n]*", block, re.MULTILINE)
]
PROGRAM = shlex.quote(sys.executable) + " -m moongate"


@pytest.mark.parametrize(("page", "line"), [pytest.param(*each, id=each[1][:60]) for each in COMMANDS])
def test_a_command_of_a_page_is_known_with_its_options(page: str, line: str) -> None:
    """Parsed, not run: some of them serve for ever."""
    words = shlex.split(line, comments=True)
    if words[0] == "make":
        assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE), page
        return
    words = words[1 : next((i for i, word in enumerate(words) if word in ("|", "&&", ">", "&")), None)]
    command_parser(words[0]).parse_args(words)


@pytest.mark.parametrize(
    ("page", "written"),
    [("README.md", ".claude/settings.json"), ("index.md", "config.json"), ("serving.md", "config.json")],
)
def test_the_commands_of_a_page_work_in_their_order(page: str, written: str, tmp_path: Path) -> None:
    """As a new user runs them, beside a gateway; `make`, `serve`, `--live` and the agents are tested elsewhere."""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "MOONGATE_HOME": str(tmp_path / "m"),
        "LANG": "C.UTF-8",
        "OPENROUTER_API_KEY": "sk-for-a-test",
    }
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    lines = [line for name, line in COMMANDS if name == page and line.startswith("moongate ")]
    lines = [line for line in lines if not line.startswith("moongate serve") and "--live" not in line]
    assert len(lines) >= 2
    with serving(tmp_path, MOONGATE_HOME=environ["MOONGATE_HOME"]) as served:
        root = served.root()
        for line in lines:
            command = PROGRAM + line.removeprefix("moongate")
            done = subprocess.run(command, shell=True, cwd=tmp_path, env=environ, capture_output=True, text=True)
            assert done.returncode == 0, (line, done.stderr)
    text = (tmp_path / written).read_text(encoding="utf-8")
    assert (root if page == "README.md" else "api_base_url") in text
    assert not (tmp_path / ".codex" / "config.toml").exists()  # the last command of the README takes it back


def test_the_configuration_of_the_readme_has_nine_lines_and_no_warning(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert CONFIG.strip().count("\n") + 1 == 9
    (folder / "config.json").write_text(CONFIG)
    assert run(["check"], OPENROUTER_API_KEY="sk-for-a-test") == 0
    assert capsys.readouterr().err == ""


def test_the_readme_is_in_order() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = ("**What breaks", "](docs/demo.svg)", "## Two commands", "## Nine lines", "## Your agent", "## More")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)


def test_the_error_message_is_as_documented(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.json").write_text('{\n  "providers": [{\n    "name": "openrouter"\n    "models": []\n  }]\n}\n')
    assert run(["check"]) == 2
    message = capsys.readouterr().err
    assert message in (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
