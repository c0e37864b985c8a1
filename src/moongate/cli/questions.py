"""The questions that `moongate init` asks on a terminal."""

from __future__ import annotations

import re
from typing import Final

from moongate.cli.console import Console
from moongate.cli.providers import PROVIDERS
from moongate.errors import ConfigError

_VARIABLE_NAME: Final = re.compile(r"[A-Z_][A-Z0-9_]*")
_KEY_REFERENCE: Final = re.compile(r"\$\w+|\$\{\w+\}|file:.+")


def choose(console: Console) -> str:
    """The name of a provider. Raises ConfigError if nobody can be asked."""
    names = list(PROVIDERS)
    if not console.interactive:
        raise ConfigError(f"no terminal to ask at: say which provider: moongate init {'|'.join(names)}")
    for number, name in enumerate(names, 1):
        print(f"{number:3}  {name:12} {PROVIDERS[name].title}")
    while True:
        answer = console.read_line("which provider? ").strip().lower()
        if answer in names:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]


def ask(console: Console, what: str) -> str:
    """An answer that is not empty."""
    while not (answer := console.read_line(f"{what}: ").strip()):
        pass
    return answer


def ask_url(console: Console) -> str:
    """A base URL. One without a scheme is asked for again, before the other questions."""
    while True:
        answer = ask(console, "base URL, such as https://api.example.com/v1")
        if answer.startswith(("https://", "http://")):
            return answer
        print("begin it with https:// or http://")


def ask_key(console: Console) -> str:
    """A reference to the key; "" if none is needed. The key itself is not accepted: the screen would show it."""
    while True:
        prompt = "variable that holds its key, such as MY_API_KEY (empty: it needs none): "
        answer = console.read_line(prompt).strip()
        if not answer or _KEY_REFERENCE.fullmatch(answer):
            return answer
        if _VARIABLE_NAME.fullmatch(answer):
            return f"${answer}"
        print("not the key itself: the name of an environment variable in capitals, or file:PATH")
