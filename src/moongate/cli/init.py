"""`moongate init`: asks (or takes flags) and writes a commented configuration."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from moongate.cli.locate import DEFAULT
from moongate.cli.places import PROVIDERS, Known
from moongate.cli.questions import ask, ask_key, choose
from moongate.cli.terminal import Paint, command
from moongate.errors import ConfigError
from moongate.gateway.config.load import parse_config
from moongate.payload import dumps_text

EPILOG = (
    "providers:\n"
    + "\n".join(
        f"  {name:12} {known.title}{f' ({known.url})' if known.url else ''}" for name, known in PROVIDERS.items()
    )
    + """

examples:
  moongate init openrouter --model moonshotai/kimi-k2.6
  moongate init other --url https://api.example.com/v1 --key '$EXAMPLE_API_KEY' --model kimi-k2.6

Only a terminal is asked questions; elsewhere what is missing must be given."""
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "provider", nargs="?", choices=PROVIDERS, metavar="PROVIDER", help="one of those below (default: asks you)"
    )
    parser.add_argument("--url", metavar="URL", help="the provider's base URL, if it is not the usual one")
    parser.add_argument("--key", metavar="KEY", help="'$VARIABLE' or file:PATH that holds the key (or the key itself)")
    parser.add_argument("--model", action="append", metavar="MODEL", help="a model to offer; may be repeated")
    parser.add_argument(
        "--preset", choices=("default", "agent"), default="agent", help="repairs (default: %(default)s)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=DEFAULT, metavar="FILE", help="the file to write (default: %(default)s)"
    )
    parser.add_argument("-f", "--force", action="store_true", help="overwrite the file if it is there")


def run(options: argparse.Namespace) -> int:
    if options.output.exists() and not options.force:  # before any question
        raise ConfigError("is there already: --force overwrites it, -o FILE writes another", path=str(options.output))
    name = options.provider or choose()
    known = completed(name, options.url, options.model)
    key = options.key
    if key is None:
        key = f"${known.variable}" if known.variable else ask_key() if name == "other" and sys.stdin.isatty() else ""
    text = config_text(name, known, key, options.preset)
    parse_config(text, "(new configuration)", Path.cwd(), _Anything())  # raises what the flags got wrong
    write_new(options.output, text)
    print(f"{Paint()('wrote', 'green')} {options.output}")
    variable = key.strip("${}") if key.startswith("$") else ""
    if variable and not os.environ.get(variable):
        print(f"now set the key: export {variable}=…")
    elif not key and name == "other":
        print("without a key; if it needs one: --key '$VARIABLE' --force, or \"api_key\" in the file")
    flag = "" if options.output == DEFAULT else f" --config {shlex.quote(str(options.output))}"
    print(f"then: {command()} check{flag} && {command()} serve{flag}")
    return 0


def completed(name: str, url: str | None, models: Sequence[str] | None) -> Known:
    """The provider with what was given, and what a person answers. Raises ConfigError if nobody can be asked."""
    known = PROVIDERS[name]
    known = replace(known, url=url or known.url, models=tuple(models or known.models))
    missing = [flag for flag, found in (("--url URL", known.url), ("--model MODEL", known.models)) if not found]
    if missing and not sys.stdin.isatty():
        raise ConfigError(f"no terminal to ask at: moongate init {name} needs {' and '.join(missing)}, too")
    return replace(
        known,
        url=known.url or ask("base URL, such as https://api.example.com/v1"),
        models=known.models or (ask("model, as the provider calls it"),),
    )


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


def write_new(path: Path, text: str) -> None:
    """All of the file or nothing of it, readable by its owner alone: it may hold a key."""
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
