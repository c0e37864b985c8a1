"""The command `moongate`. A command is a module with `arguments(parser)`, `run(options) -> exit code` and `EPILOG`."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Final

from moongate.errors import ConfigError

# name → (module, what it does). A command's module is imported when the command runs, to start quickly.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "serve": ("moongate.cli.serve", "start the gateway"),
    "check": ("moongate.cli.check", "check the configuration and show what it means"),
    "init": ("moongate.cli.init", "write a configuration for a provider"),
    "connect": ("moongate.cli.connect", "show (or write) the settings that a coding agent needs"),
    "replay": ("moongate.cli.replay", "run a recorded answer through a chain, item by item"),
    "sim": ("moongate.cli.sim", "start the simulator alone"),
}

EPILOG: Final = """\
moongate COMMAND --help tells more about a command.

example:
  moongate init vllm && moongate check && moongate serve

exit codes: 0 all is well, 1 it failed, 2 the configuration or the command line is wrong"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no … gets a ?, not a traceback
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = _parser(next((each for each in given if not each.startswith("-")), ""))
    options = parser.parse_args(given)
    if not options.command:
        parser.print_help()
        return 2
    try:
        code = importlib.import_module(COMMANDS[options.command][0]).run(options)
    except ConfigError as error:
        print(f"moongate: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, EOFError):  # Ctrl-C, or Ctrl-D at a question
        print(file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever read our output has gone: nothing more can be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return int(code)


def _parser(wanted: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="moongate",
        description="A gateway that makes Kimi's tool calling work behind any\nOpenAI-compatible provider.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module, about) in COMMANDS.items():
        sub = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        if name == wanted:
            found = importlib.import_module(module)
            sub.epilog, sub.formatter_class = found.EPILOG, argparse.RawDescriptionHelpFormatter
            found.arguments(sub)
    return parser


class _Version(argparse.Action):
    """Looked up only when asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from importlib.metadata import version

        print(f"moongate {version('moongate')}")
        parser.exit()
