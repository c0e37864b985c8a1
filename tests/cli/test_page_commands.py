"""Commands that the documentation shows are run in their order; those of the help are command lines that it knows.

The pages that a new user follows are run by `test_quotes.py`, the other blocks by `tests/test_doc_blocks.py`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import run, write
from tests.cli.test_logs import ENTRIES
from tests.support.background import Background

from moongate.cli import COMMANDS, command_parser
from moongate.cli.command_words import commands_of
from moongate.gateway.record.log_lines import json_line
from moongate.sim.server import SimServer, start

DOCS = Path(__file__).parents[2] / "docs"
FOREIGN = Path(__file__).parent / "foreign"


@pytest.fixture(scope="module")
def vendor() -> Iterator[SimServer]:
    with Background() as background:
        yield background.start(start())


def commands(page: str, name: str) -> list[list[str]]:
    """The words behind `moongate` of a page's lines that begin with this command."""
    text = (DOCS / page).read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith(f"moongate {name} ")]


HELP = [
    pytest.param(words, id=" ".join(words)[:60])
    for command in commands_of(command_parser(*COMMANDS))
    for line in re.findall(r"^  (moongate .*)$", command.epilog, re.MULTILINE)
    for part in re.split(r" && | \| ", re.split(r" [<>] ", line)[0])
    if (words := shlex.split(part)) and words[0] == "moongate"
]


@pytest.mark.parametrize("words", HELP)
def test_an_example_of_the_help_is_a_command_line(words: list[str]) -> None:
    assert command_parser(words[1]).parse_args(words[1:]).command == words[1]


def test_no_help_has_a_place_that_was_not_filled() -> None:
    assert len(HELP) > 20
    shown = [option.about for each in commands_of(command_parser(*COMMANDS)) for option in each.options]
    assert [about for about in shown if "%(" in about] == []


def test_the_filters_of_the_log(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("moongate.log").write_bytes(b"".join(map(json_line, ENTRIES)))
    shown = []
    for words in commands("log.md", "logs"):
        assert run(words) == 0
        shown.append(capsys.readouterr().out)
    assert "it broke" in shown[0]
    assert shown[0].count("\n") == 1
    assert [json.loads(line)["id"] for line in shown[1].splitlines()] == ["req_3"]


@pytest.mark.parametrize("words", commands("importing.md", "import"), ids=lambda words: words[1])
def test_a_configuration_is_imported(words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"ccr": "ccr-everyday.json", "litellm": "litellm-openrouter.yaml", "opencode": "opencode.json"}[words[1]]
    file = Path(words[2].replace("~", str(folder)))
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(FOREIGN / given, file)
    assert run([*words[:2], str(file), *words[3:]]) == 0
    names = re.findall(r"\$(\w+)", Path("config.json").read_text(encoding="utf-8"))
    assert run(["check"], **dict.fromkeys(names, "a-key-of-at-least-32-characters-00")) == 0
    assert "ok config.json" in capsys.readouterr().out


def test_the_litellm_page_shows_what_the_import_makes(folder: Path) -> None:
    text = (DOCS / "from-litellm.md").read_text(encoding="utf-8")
    Path("config.yaml").write_text(re.findall(r"```yaml\n(model_list.*?)```", text, re.DOTALL)[0], encoding="utf-8")
    assert run(["import", "litellm", "config.yaml"]) == 0
    made, shown = (json.loads(each) for each in (Path("config.json").read_text(), _json(text)))
    for found in (made, shown):
        (provider,) = found["providers"]
        assert provider["models"] == ["moonshotai/kimi-k2.6"]
        assert json.dumps(provider["transformer"]).count('["Kimi", {"preset": "agent"}]') == 1
        assert found["aliases"] == {"kimi": f"{provider['name']},moonshotai/kimi-k2.6"}
    for name in ("api_base_url", "api_key"):
        assert made["providers"][0][name] == shown["providers"][0][name]
    assert made["api_keys"] == shown["api_keys"]


def _json(text: str) -> str:
    return str(re.findall(r"```json\n(.*?)```", text, re.DOTALL)[0])


def test_vendors_are_verified_and_compared(vendor: SimServer, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Against the simulator, with fewer samples; the model of the page, which the simulator plays well."""
    model: dict[str, Any] = {"name": "kimi-k2.6", "price": {"input": 1.0, "output": 2.0}}
    write({"name": "moonshot", "api_base_url": vendor.url, "api_key": "k", "models": [model]})
    done = []
    for words in commands("vendors.md", "verify"):
        words = [vendor.url if word == "http://127.0.0.1:8000/v1" else word for word in words]
        fewer = [] if "compare" in words else ["--max", "12"]
        assert run([*words, *fewer], VLLM_KEY="a-key-of-a-test") == 0, (words, capsys.readouterr().err)
        done.append(" ".join(words))
    assert len(done) == 6
    assert all((Path("runs") / name / "report.html").is_file() for name in ("moonshot", "vllm", "night", "ci"))
