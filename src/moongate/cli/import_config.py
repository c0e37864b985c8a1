"""`moongate import`: writes a configuration made of another server's file, and says what was taken and what was not."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from moongate.cli.ccr_config import import_ccr
from moongate.cli.config_path import DEFAULT
from moongate.cli.console import Console
from moongate.cli.imported import Imported
from moongate.cli.init import EverySet, write_private
from moongate.cli.json5_file import parse_json5
from moongate.cli.litellm_config import import_litellm
from moongate.cli.opencode_config import import_opencode
from moongate.cli.terminal import command
from moongate.cli.yaml_file import parse_yaml
from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import parse
from moongate.gateway.config.load import MAX_FILE, ReadOptions, parse_config
from moongate.gateway.routing.routes import Routes
from moongate.payload import JsonObject, dumps_text

EPILOG = """\
example:
  moongate import ccr ~/.claude-code-router/config.json && moongate check
  moongate import litellm litellm_config.yaml
  moongate import opencode ~/.config/opencode/opencode.json

ccr is claude-code-router (or llms); files of LiteLLM need PyYAML: pip install 'moongate[yaml]'.

What maps to what: docs/importing.md. Keys are written as they stand in the file: $VARIABLES stay variables.
exit codes: 0 written, 2 the file cannot be read, or nothing in it can be served"""


def _json(text: str, file: str) -> Any:
    return parse(text, file).value


SERVERS: Final[dict[str, tuple[Callable[[str, str], Any], Callable[[JsonObject], Imported]]]] = {
    "ccr": (parse_json5, import_ccr),  # claude-code-router, llms
    "litellm": (parse_yaml, import_litellm),
    "opencode": (_json, import_opencode),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("server", choices=SERVERS, metavar="SERVER", help=f"whose file: {', '.join(SERVERS)}")
    parser.add_argument("file", type=Path, metavar="FILE", help="its configuration")
    parser.add_argument(
        "-o", "--output", type=Path, default=DEFAULT, metavar="FILE", help="the file to write (default: %(default)s)"
    )
    parser.add_argument("-f", "--force", action="store_true", help="overwrite the file if it is there")


def run(options: argparse.Namespace, console: Console) -> int:
    del console
    if options.output.exists() and not options.force:
        raise ConfigError("is there already: --force overwrites it, -o FILE writes another", path=str(options.output))
    try:
        with options.file.open("rb") as file:
            text = file.read(MAX_FILE + 1).decode("utf-8")
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(options.file)) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8", path=str(options.file)) from None
    read, importer = SERVERS[options.server]
    given = read(text, str(options.file))
    made = importer(given if isinstance(given, dict) else {})
    for line in made.taken:
        print(f"taken      {line}")
    for line in made.left:
        print(f"not taken  {line}")
    if not made.config["providers"]:
        raise ConfigError("no provider in it can be served", path=str(options.file))
    written = dumps_text(made.config) + "\n"
    parse_config(written, "(new configuration)", Path.cwd(), EverySet(), options=ReadOptions(validate=Routes))
    write_private(options.output, written)
    flag = "" if options.output == DEFAULT else f" --config {options.output}"
    print(f"wrote {options.output}\nthen: {command()} check{flag} && {command()} serve{flag}")
    return 0
