"""What the documentation shows of the command line is what the command line says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from moongate.cli import main

ROOT = Path(__file__).parents[2]
CONFIG = re.findall(r"```json\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
ANSWER = (
    'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function",'
    '"function":{"name":"f","arguments":"{}"}}]}}]}\n\n'
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
QUOTES = {
    match[1]: match[2]
    for page in sorted((ROOT / "docs").glob("*.md"))
    for match in re.finditer(r"```text\n\$ moongate ([^\n]*)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
}


def test_there_is_something_to_compare() -> None:
    assert [command.split()[0] for command in QUOTES] == ["check", "replay"]


@pytest.mark.parametrize("command", QUOTES)
def test_the_output_is_as_the_page_says(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-for-a-test")
    (folder / "config.json").write_text(CONFIG)
    (folder / "answer.sse").write_text(ANSWER)
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out == QUOTES[command]


def test_the_mistake_is_told_as_the_page_says(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.json").write_text('{\n  "providers": [{\n    "name": "openrouter"\n    "models": []\n  }]\n}\n')
    assert main(["check"]) == 2
    told = capsys.readouterr().err
    assert told in (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
