"""What `moongate init` asks a person at a terminal."""

from __future__ import annotations

import re
import sys
from typing import Final

from moongate.cli.places import PROVIDERS
from moongate.errors import ConfigError

_NAME: Final = re.compile(r"[A-Z_][A-Z0-9_]*")
_PLACE: Final = re.compile(r"\$\w+|\$\{\w+\}|file:.+")


def choose() -> str:
    """Which provider. Raises ConfigError if nobody can be asked."""
    names = list(PROVIDERS)
    if not sys.stdin.isatty():
        raise ConfigError(f"no terminal to ask at: say which provider: moongate init {'|'.join(names)}")
    for number, name in enumerate(names, 1):
        print(f"{number:3}  {name:12} {PROVIDERS[name].title}")
    while True:
        answer = input("which provider? ").strip().lower()
        if answer in names:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]


def ask(what: str) -> str:
    while not (answer := input(f"{what}: ").strip()):
        pass
    return answer


def ask_key() -> str:
    """Where the key is; "" if none is needed. The key itself is not taken here, where a screen shows it."""
    while True:
        answer = input("variable that holds its key, such as MY_API_KEY (empty: it needs none): ").strip()
        if not answer or _PLACE.fullmatch(answer):
            return answer
        if _NAME.fullmatch(answer):
            return f"${answer}"
        print("not the key itself: the name of an environment variable in capitals, or file:PATH")
