"""`moongate completion SHELL`: a script that completes commands, options and their values in bash, zsh or fish."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from moongate.cli.command_words import CommandWords, OptionWords, commands_of
from moongate.cli.console import Console

EPILOG: Final = """\
examples:
  moongate completion bash > ~/.local/share/bash-completion/completions/moongate
  moongate completion zsh > "${fpath[1]}/_moongate"
  moongate completion fish > ~/.config/fish/completions/moongate.fish"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=f"one of {', '.join(SHELLS)}")


def run(options: argparse.Namespace, _console: Console) -> int:
    from moongate.cli import COMMANDS, command_parser

    print(SHELLS[options.shell](list(commands_of(command_parser(*COMMANDS)))), end="")
    return 0


def bash(commands: Sequence[CommandWords]) -> str:
    values = [f'        {places}) COMPREPLY=($(compgen -W "{" ".join(words)}" -- "$current")) ;;'
              for places, words in _choices(commands)]  # fmt: skip
    words = [f'        "{each.place}") words="{" ".join(name for name, _ in _words(each))}" ;;' for each in commands]
    return _lines(
        "# moongate's completion for bash, written by `moongate completion bash`.",
        "_moongate() {",
        '    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" place="" words="" i',
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        '        case "$place ${COMP_WORDS[i]}" in',
        f'            {_steps(commands)}) place="${{place:+$place }}${{COMP_WORDS[i]}}" ;;',
        "        esac",
        "    done",
        "    COMPREPLY=()",
        '    case "$place|$before" in',
        *values,
        f"        {_with_values(commands)}) ;;  # a file, by the default of bash",
        "        *)",
        '            case "$place" in',
        *(f"        {line}" for line in words),
        "            esac",
        '            COMPREPLY=($(compgen -W "$words" -- "$current")) ;;',
        "    esac",
        "}",
        "complete -o default -F _moongate moongate",
    )


def zsh(commands: Sequence[CommandWords]) -> str:
    values = [f"        ({places}) compadd -- {' '.join(words)} ;;" for places, words in _choices(commands)]
    words = [f'                ("{each.place}") found=({_described(each)}) ;;' for each in commands]
    return _lines(
        "#compdef moongate",
        "# moongate's completion for zsh, written by `moongate completion zsh`.",
        "_moongate() {",
        '    local place="" i',
        "    local -a found",
        "    for ((i = 2; i < CURRENT; i++)); do",
        '        case "$place ${words[i]}" in',
        f'            ({_steps(commands)}) place="${{place:+$place }}${{words[i]}}" ;;',
        "        esac",
        "    done",
        '    case "$place|${words[CURRENT-1]}" in',
        *values,
        f"        ({_with_values(commands)}) _files ;;",
        "        (*)",
        '            case "$place" in',
        *words,
        "            esac",
        "            _describe moongate found || _files ;;",
        "    esac",
        "}",
        'if [[ "${funcstack[1]}" == _moongate ]]; then _moongate "$@"; else compdef _moongate moongate; fi',
    )


def fish(commands: Sequence[CommandWords]) -> str:
    lines = ["# moongate's completion for fish, written by `moongate completion fish`."]
    for command in commands:
        below = " ".join(name for name, _ in command.parts)
        seen = [f"__fish_seen_subcommand_from {word}" for word in command.words]
        if below:
            seen.append(f"not __fish_seen_subcommand_from {below}")
        start = f"complete -c moongate -n {_quoted('; and '.join(seen))}"
        lines += [f"{start} -f -a {name} -d {_quoted(about)}" for name, about in _positional(command)]
        for option in command.options:
            value = (
                f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else " -r -F" if option.value else ""
            )
            names = " ".join(f"-l {each[2:]}" if each.startswith("--") else f"-s {each[1:]}" for each in option.names)
            lines.append(f"{start} {names} -d {_quoted(option.about)}{value}")
    return _lines(*lines)


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _steps(commands: Sequence[CommandWords]) -> str:
    """The pattern of all words that lead to a command below the one before."""
    return "|".join(f'"{" ".join(each.words[:-1])} {each.words[-1]}"' for each in commands if each.words)


def _places(command: CommandWords, option: OptionWords) -> str:
    return "|".join(f'"{command.place}|{name}"' for name in option.names)


def _choices(commands: Sequence[CommandWords]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where one of a few values stands behind an option, and the values."""
    for command in commands:
        yield from ((_places(command, each), each.choices) for each in command.options if each.choices)


def _with_values(commands: Sequence[CommandWords]) -> str:
    places = [_places(command, each) for command in commands for each in command.options if each.value]
    return "|".join(places)


def _positional(command: CommandWords) -> list[tuple[str, str]]:
    return [*command.parts, *((choice, "") for each in command.arguments for choice in each.choices)]


def _words(command: CommandWords) -> list[tuple[str, str]]:
    """Each word that may follow a command, and what it does."""
    return [*_positional(command), *((name, each.about) for each in command.options for name in each.names)]


def _described(command: CommandWords) -> str:
    rows = [(name.replace(":", r"\:"), about.replace("'", "’")) for name, about in _words(command)]
    return " ".join(f"'{name}:{about}'" if about else f"'{name}'" for name, about in rows)


SHELLS: Final[dict[str, Callable[[Sequence[CommandWords]], str]]] = {"bash": bash, "zsh": zsh, "fish": fish}
