"""The manual page and the page of all commands, both made of the parsers."""

from __future__ import annotations

from pathlib import Path

from moongate import __version__
from moongate.cli import COMMANDS, command_parser
from moongate.cli.command_words import CommandWords, OptionWords, commands_of

MAN_PAGE = Path(__file__).parent / "moongate.1"
COMMANDS_PAGE = Path(__file__).parent / "commands.md"
ENVIRONMENT = {
    "MOONGATE_CONFIG": "the configuration, if it is not config.json in the working directory",
    "MOONGATE_HOME": "the folder of keys, the store and the records of running gateways (else ~/.config/moongate)",
    "MOONGATE_FAST": "0 turns off everything that exists only for speed",
    "NO_COLOR": "no colours in the output",
}


def every_command() -> list[CommandWords]:
    return list(commands_of(command_parser(*COMMANDS)))


def man_page() -> str:
    whole, *commands = every_command()
    lines = [
        rf'.TH MOONGATE 1 "" "moongate {__version__}" "User Commands"',
        *(".SH NAME", r"moongate \- repairs the tool calling of Kimi models"),
        *(".SH SYNOPSIS", ".B moongate", r".I COMMAND", r"[\fIoptions\fR]"),
        *(".SH DESCRIPTION", _roff(" ".join(whole.about.split())), ".SH COMMANDS"),
    ]
    for command in commands:
        lines += [".SS", rf"moongate {_roff(command.place)} {_roff(_arguments(command))}".rstrip()]
        lines += [_roff(_sentence(command.about))]
        for option in (*command.arguments, *command.options):
            lines += [".TP", rf"\fB{_roff(_name(option))}\fR", _roff(_meaning(option))]
        if command.epilog:
            lines += [".PP", ".nf", *(_roff(line) for line in command.epilog.split("\n")), ".fi"]
    lines.append(".SH ENVIRONMENT")
    for name, about in ENVIRONMENT.items():
        lines += [".TP", rf"\fB{name}\fR", _roff(about)]
    lines += [".SH EXIT STATUS", "0 success, 1 failure, 2 the configuration or the command line is wrong."]
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    parts = [
        "# Commands",
        "Made of the parsers by `make docs`. `man moongate` shows the same where the package is installed.",
    ]
    for command in every_command()[1:]:
        parts.append(f"{'#' * (len(command.words) + 1)} moongate {command.place}")
        parts.append(f"`moongate {command.place} {_arguments(command)}`".replace(" `", "`") + f": {command.about}.")
        rows = [f"| `{_name(each)}` | {_cell(_meaning(each))} |" for each in (*command.arguments, *command.options)]
        parts.append("\n".join(["| | |", "|---|---|", *rows]))
        if command.epilog:
            parts.append(f"```text\n{command.epilog}\n```")
    return "\n\n".join(parts) + "\n"


def _arguments(command: CommandWords) -> str:
    names = [f"[{each.value}]" if each.may_be_left_out else each.value for each in command.arguments]
    names = names or (["COMMAND"] if command.parts else [])
    return " ".join([*names, *(["[options]"] if command.options else [])])


def _name(option: OptionWords) -> str:
    return f"{', '.join(option.names)} {option.value}".strip()


def _meaning(option: OptionWords) -> str:
    listed = ", ".join(option.choices)
    return _sentence(option.about + (f" ({listed})" if listed and listed not in option.about else ""))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _roff(text: str) -> str:
    text = text.replace("\\", r"\e").replace("-", r"\-")
    text = "".join(char if char.isascii() else rf"\[u{ord(char):04X}]" for char in text)
    return rf"\&{text}" if text.startswith((".", "'")) else text
