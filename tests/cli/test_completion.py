"""The completion scripts, asked by the shells themselves."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from moongate.cli import COMMANDS, command_parser, main
from moongate.cli.agents import AGENTS
from moongate.cli.command_words import commands_of

# What is typed, and what must and must not be offered.
TYPED = [
    ("moongate ", set(COMMANDS), {"--config", "create"}),
    ("moongate ch", {"check"}, {"serve"}),
    ("moongate connect ", set(AGENTS), {"check"}),
    ("moongate connect codex --wr", {"--write"}, {"--undo"}),
    ("moongate keys ", {"create", "list"}, {"codex"}),
    ("moongate keys create --j", {"--json"}, {"--models"}),
    ("moongate completion z", {"zsh"}, {"bash"}),
    ("moongate serve --config ./con", {"config.json"}, {"--help"}),
    ("moongate init vllm --preset ", {"agent", "default"}, {"--help"}),
]
IDS = [line.strip().removeprefix("moongate") or "nothing" for line, _, _ in TYPED]

BASH = """
source "$1"; read -ra COMP_WORDS <<< "$2"
[[ "$2" == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _moongate
[[ ${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))  # `complete -o default`
printf '%s\\n' "${COMPREPLY[@]}"
"""
# zsh completes only on a terminal: it gets one of its own.
ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PS1=; unsetopt zle_bracketed_paste 2>/dev/null; autoload -U compinit; compinit -u -D; LISTMAX=10000; '\
'bindkey "^I" complete-word; zstyle ":completion:*" list-separator "::"; setopt no_list_beep; stty cols 400 rows 500'
zpty -w shell "source $1; echo it is re''ady"
zpty -r -m shell line '*it is ready*'
zpty -w -n shell "$2"$'\\t'
sleep 1
zpty -w -n shell $'\\C-u'"echo it is o''ver"$'\\n'
zpty -r -m shell line '*it is over*'
print -r -- "$line"
"""
FISH = 'source $argv[1]; complete -C "$argv[2]"'


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    (folder / "config.json").write_text("{}")
    for shell in ("bash", "zsh", "fish"):
        with pytest.MonkeyPatch.context() as patched:
            written = (folder / f"moongate.{shell}").open("w", encoding="utf-8")
            patched.setattr("sys.stdout", written)
            assert main(["completion", shell]) == 0
            written.close()
    return folder


def ask(folder: Path, shell: list[str], script: str, line: str) -> set[str]:
    name = Path(shell[0]).name
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    behind = [] if name == "fish" else [name]  # $0
    command = [*shell, "-c", script, *behind, str(folder / f"moongate.{name}"), line]
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x08|\r", " ", done.stdout)
    return {word.removeprefix("./") for word in re.split(r"[\s]+", plain)}


@pytest.mark.needs("bash")
@pytest.mark.parametrize(("line", "offered", "absent"), TYPED, ids=IDS)
def test_bash(scripts: Path, line: str, offered: set[str], absent: set[str]) -> None:
    found = ask(scripts, ["bash", "--norc"], BASH, line)
    assert offered <= found
    assert not absent & found


@pytest.mark.needs("zsh")
@pytest.mark.parametrize(("line", "offered", "absent"), TYPED, ids=IDS)
def test_zsh(scripts: Path, line: str, offered: set[str], absent: set[str]) -> None:
    found: set[str] = set()
    for seconds in (1, 5, 30):  # it lists nothing if the next input is there before it is done
        if not offered <= found:
            found = ask(scripts, ["zsh", "-f"], ZSH.replace("sleep 1", f"sleep {seconds}"), line)
    assert offered <= found
    assert not absent & found


@pytest.mark.needs("fish")
@pytest.mark.parametrize(("line", "offered", "absent"), TYPED, ids=IDS)
def test_fish(scripts: Path, line: str, offered: set[str], absent: set[str]) -> None:
    found = ask(scripts, ["fish", "--no-config"], FISH, line)
    assert offered <= found
    assert not absent & found


def test_every_command_and_option_is_known() -> None:
    commands = {each.words: each for each in commands_of(command_parser(*COMMANDS))}
    assert {words[0] for words in commands if len(words) == 1} == set(COMMANDS)
    (json,) = [each for each in commands["keys", "list"].options if "--json" in each.names]
    assert (json.about, json.value) == ("print JSON", "")
    left_out = [
        commands[name,].arguments[0].may_be_left_out for name in ("demo", "init", "verify", "connect", "import")
    ]
    assert left_out == [True, True, True, False, False]
    assert all(option.about for command in commands.values() for option in command.options)
