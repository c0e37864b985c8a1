"""`moongate init`: asks (or takes flags) and writes a commented configuration."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from moongate.cli.places import PROVIDERS, Known
from moongate.cli.terminal import Paint
from moongate.errors import ConfigError
from moongate.gateway.config.load import parse_config
from moongate.payload import dumps_text


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("provider", nargs="?", choices=PROVIDERS, help="whom to ask (default: asks you)")
    parser.add_argument("--url", help="the provider's base URL, if it is not the usual one")
    parser.add_argument("--key", metavar="KEY", help="$VARIABLE or file:PATH that holds the key (or the key itself)")
    parser.add_argument("--model", action="append", metavar="NAME", help="a model to offer; may be repeated")
    parser.add_argument(
        "--preset", choices=("default", "agent"), default="agent", help="repairs (default: %(default)s)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("config.json"), help="the file (default: %(default)s)"
    )
    parser.add_argument("-f", "--force", action="store_true", help="overwrite the file if it is there")


def run(options: argparse.Namespace) -> int:
    name = options.provider or _choose()
    known = PROVIDERS[name]
    url = options.url or known.url or _ask("base URL, such as https://api.example.com/v1", "--url")
    models = tuple(options.model or known.models) or (_ask("model, as the provider calls it", "--model"),)
    key = options.key if options.key is not None else known.variable and f"${known.variable}"
    text = config_text(name, replace(known, url=url, models=models), key, options.preset)
    parse_config(text, "(new configuration)", Path.cwd(), _Anything())  # raises what the flags got wrong
    write_new(options.output, text, force=options.force)
    paint = Paint()
    print(f"{paint('wrote', 'green')} {options.output}")
    if key.startswith("$") and not os.environ.get(key.strip("${}")):
        print(f"now set the key: export {key.strip('${}')}=…")
    print("then: moongate check, moongate serve")
    return 0


def config_text(name: str, known: Known, key: str, preset: str) -> str:
    """A configuration with a word on every line that may want a change."""
    options = {"preset": preset} | ({"host": known.host} if known.host else {})
    lines = [
        "{",
        f"  // {known.title}. Every setting: docs/configuration.md. Check this file with: moongate check",
        '  "providers": [',
        "    {",
        f'      "name": {dumps_text(name)},',
        f'      "api_base_url": {dumps_text(known.url)},',
    ]
    if key:
        lines.append(
            f'      "api_key": {dumps_text(key)}, // the text itself, $VARIABLE or file:PATH; or a list of keys'
        )
    lines += [
        '      "models": [',
        *(f"        {dumps_text(model)}," for model in known.models),
        "      ],",
        "      // what makes the models behave; options: docs/kimi.md",
        f'      "transformer": {{"use": [["Kimi", {dumps_text(options)}]]}},',
        "    },",
        "  ],",
        f'  "default": {dumps_text(known.models[0])}, // for names that nobody has, such as claude-… or gpt-…',
        '  // "aliases": {"claude-*": "some-model"},',
        '  // "api_keys": ["$MY_CLIENT_KEY"], // what clients must send; if absent, a key is made at first start',
        '  "host": "127.0.0.1",',
        '  "port": 3000,',
        "}",
    ]
    return "\n".join(lines) + "\n"


def write_new(path: Path, text: str, *, force: bool) -> None:
    """All of the file or nothing of it, readable by its owner alone: it may hold a key."""
    if path.exists() and not force:
        raise ConfigError("is there already (--force overwrites it)", path=str(path))
    try:
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    except OSError as error:
        raise ConfigError(f"cannot be written: {error.strerror}", path=str(path)) from None
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


class _Anything(dict[str, str]):
    """An environment in which every variable is set: the file is written before the key is."""

    def get(self, key: str, default: object = None) -> str:
        return "set-later"

    def __getitem__(self, key: str) -> str:
        return "set-later"


def _choose() -> str:
    names = list(PROVIDERS)
    if not sys.stdin.isatty():
        raise ConfigError(f"say which provider: moongate init {'|'.join(names)}")
    for number, name in enumerate(names, 1):
        print(f"{number:3}  {PROVIDERS[name].title}")
    return _picked(names)


def _picked(names: Sequence[str]) -> str:
    while True:
        answer = input("which provider? ").strip().lower()
        if answer in names:
            return answer
        if answer.isdecimal() and 1 <= int(answer) <= len(names):
            return names[int(answer) - 1]


def _ask(what: str, flag: str) -> str:
    if not sys.stdin.isatty():
        raise ConfigError("is needed for this provider", path=flag)
    while not (answer := input(f"{what}: ").strip()):
        pass
    return answer
