"""Every word that can stand on the command line, read from the parsers: for completion and for the manual."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OptionWords:
    names: tuple[str, ...]  # --config; -h and --help
    about: str
    value: str  # what stands behind it, such as FILE; empty: nothing
    choices: tuple[str, ...] = ()
    may_be_left_out: bool = True


@dataclass(frozen=True, slots=True)
class CommandWords:
    """A command by its words: `()` is moongate itself, `("keys", "create")` a part of one."""

    words: tuple[str, ...]
    about: str
    options: tuple[OptionWords, ...]
    arguments: tuple[OptionWords, ...]  # without names: `value` is what the help calls them
    parts: tuple[tuple[str, str], ...]  # the commands below, and what they do
    epilog: str = ""

    @property
    def place(self) -> str:
        return " ".join(self.words)


def commands_of(
    parser: argparse.ArgumentParser, words: tuple[str, ...] = (), about: str = ""
) -> Iterator[CommandWords]:
    """The command of a parser, then those below it."""
    options: list[OptionWords] = []
    arguments: list[OptionWords] = []
    parts: tuple[tuple[str, str], ...] = ()
    below: list[tuple[str, str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help or "" for each in action._choices_actions}
            below = [(name, helps.get(name, ""), sub) for name, sub in action.choices.items()]
            parts = tuple((name, about) for name, about, _ in below)
        elif action.help != argparse.SUPPRESS:
            (options if action.option_strings else arguments).append(_option(action))
    yield CommandWords(
        words, about or parser.description or "", tuple(options), tuple(arguments), parts, parser.epilog or ""
    )
    for name, what, sub in below:
        yield from commands_of(sub, (*words, name), what)


def _option(action: argparse.Action) -> OptionWords:
    choices = tuple(str(each) for each in action.choices or ())
    name = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    takes_value = not action.option_strings or action.nargs != 0
    about = (action.help or "") % {"default": action.default}
    left_out = bool(action.option_strings) or action.nargs in ("?", "*")
    return OptionWords(tuple(action.option_strings), about, name if takes_value else "", choices, left_out)
