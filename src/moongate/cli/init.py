"""`moongate init`: writes a commented configuration, from flags or from answers to questions."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from moongate.cli.config_path import DEFAULT
from moongate.cli.console import Console
from moongate.cli.providers import AGENT_NAMES, PROVIDERS, KnownProvider
from moongate.cli.questions import ask, ask_key, ask_url, choose
from moongate.cli.terminal import Colours, command
from moongate.errors import ConfigError
from moongate.gateway.config.load import parse_config
from moongate.kimi.options import PRESETS
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

Questions are asked only on a terminal; elsewhere the flags must give everything."""
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "provider", nargs="?", choices=PROVIDERS, metavar="PROVIDER", help="one of those below (default: ask)"
    )
    parser.add_argument("--url", metavar="URL", help="the provider's base URL, if it is not the usual one")
    parser.add_argument("--key", metavar="KEY", help="'$VARIABLE' or file:PATH that holds the key (or the key itself)")
    parser.add_argument("--model", action="append", metavar="MODEL", help="a model to offer; may be repeated")
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        metavar="PRESET",
        default="agent",
        help=f"repairs: {', '.join(PRESETS)} (default: %(default)s)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=DEFAULT, metavar="FILE", help="the file to write (default: %(default)s)"
    )
    parser.add_argument("-f", "--force", action="store_true", help="overwrite the file if it is there")


def run(options: argparse.Namespace, console: Console) -> int:
    if options.output.exists() and not options.force:  # checked before any question
        raise ConfigError("is there already: --force overwrites it, -o FILE writes another", path=str(options.output))
    name = options.provider or choose(console)
    known = complete_provider(name, options.url, options.model, console)
    key = options.key
    if key is None and known.variable:
        key = f"${known.variable}"
    elif key is None:
        key = ask_key(console) if name == "other" and console.interactive else ""
    text = config_text(name, known, key, options.preset)
    parse_config(text, "(new configuration)", Path.cwd(), EverySet())  # raises ConfigError for wrong flags
    write_private(options.output, text)
    print(f"{Colours()('wrote', 'green')} {options.output}")
    variable = key.strip("${}") if key.startswith("$") else ""
    if variable and not console.environ.get(variable):
        print(f"now set the key: export {variable}=…")
    elif not key and name == "other":
        print("without a key; if it needs one: --key '$VARIABLE' --force, or \"api_key\" in the file")
    flag = "" if options.output == DEFAULT else f" --config {shlex.quote(str(options.output))}"
    print(f"then: {command()} check{flag} && {command()} serve{flag}")
    return 0


def complete_provider(name: str, url: str | None, models: Sequence[str] | None, console: Console) -> KnownProvider:
    """The provider with the flags applied and the rest asked for. Raises ConfigError if nobody can be asked."""
    known = PROVIDERS[name]
    known = replace(known, url=url or known.url, models=tuple(models or known.models))
    missing = [flag for flag, value in (("--url URL", known.url), ("--model MODEL", known.models)) if not value]
    if missing and not console.interactive:
        raise ConfigError(f"no terminal to ask at: moongate init {name} needs {' and '.join(missing)}, too")
    return replace(
        known,
        url=known.url or ask_url(console),
        models=known.models or (ask(console, "model, as the provider calls it"),),
    )


def config_text(name: str, known: KnownProvider, key: str, preset: str) -> str:
    """A configuration with a comment on every line that a user may want to change."""
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
        "  // the names that agents ask for when they are not told another; other unknown names are refused",
        f'  "aliases": {dumps_text(dict.fromkeys(AGENT_NAMES, known.models[0]))},',
        '  // "api_keys": ["$MY_CLIENT_KEY"], // what clients must send; if absent, a key is made at first start',
        '  "host": "127.0.0.1",',
        '  "port": 3000,',
        "}",
    ]
    return "\n".join(lines) + "\n"


def write_private(path: Path, text: str) -> None:
    """Write a file atomically, readable by its owner alone: it may hold a key. Raises ConfigError."""
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


class EverySet(dict[str, str]):
    """An environment in which every variable is set, since the user sets the key after the file is written.

    The value is long enough for a key that other machines may try.
    """

    def get(self, key: str, default: object = None) -> str:
        return "a-value-that-is-set-later"

    def __getitem__(self, key: str) -> str:
        return "a-value-that-is-set-later"
