"""The command `moongate`.

A command is a module with `arguments(parser)`, `run(options, console) -> exit code` and `EPILOG`.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Final

from moongate import __version__
from moongate.cli.console import Console, process_console
from moongate.cli.terminal import command as command_line
from moongate.cli.terminal import open_standard_streams
from moongate.errors import ConfigError, ConfigErrors

# name → (module, what it does). A command's module is imported when the command runs, to start quickly.
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "demo": ("moongate.cli.demo", "show five repairs and a tool loop, without a key or a network"),
    "serve": ("moongate.cli.serve", "start the gateway"),
    "check": ("moongate.cli.check", "check the configuration and show what it means"),
    "init": ("moongate.cli.init", "write a configuration for a provider"),
    "import": ("moongate.cli.import_config", "write a configuration made of another server's file"),
    "connect": ("moongate.cli.connect", "show (or write) the settings that a coding agent needs"),
    "replay": ("moongate.cli.replay", "run recorded answers through a chain, item by item"),
    "verify": ("moongate.cli.verify", "measure how good a vendor's tool calling is, raw and repaired"),
    "sim": ("moongate.cli.sim", "start the simulator alone"),
    "keys": ("moongate.cli.keys", "make, show, rotate and delete client keys"),
    "teams": ("moongate.cli.teams", "make, show and delete teams of keys"),
    "usage": ("moongate.cli.usage", "show who used what, and what it cost"),
    "prices": ("moongate.cli.prices", "show what tokens cost"),
    "route": ("moongate.cli.route", "show how a route chooses: scores, prices, health"),
    "logs": ("moongate.cli.logs", "show the JSON lines of the log as text, and filter them"),
    "store": ("moongate.cli.store", "back up, check or export the store of keys and usage"),
    "completion": ("moongate.cli.completion", "print the completion script for bash, zsh or fish"),
}

EPILOG: Final = """\
moongate COMMAND --help shows the options of a command.

example:
  moongate init vllm && moongate check && moongate serve

exit codes: 0 success, 1 failure, 2 the configuration or the command line is wrong"""


def main(arguments: Sequence[str] | None = None, console: Console | None = None) -> int:
    """Run one command; returns the exit code."""
    open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an encoding without "…" gets "?" instead of a traceback
    given = list(sys.argv[1:] if arguments is None else arguments)
    parser = command_parser(next((each for each in given if not each.startswith("-")), ""))
    options = parser.parse_args(given)
    if not options.command:
        print(f"{command_line()} demo shows in a second what moongate repairs, without a key or a network.\n")
        parser.print_help()
        return 2
    try:
        command = importlib.import_module(COMMANDS[options.command][0])
        return int(command.run(options, console or process_console()))
    except ConfigErrors as several:
        for each in several.errors:
            print(f"moongate: {each}", file=sys.stderr)
        return 2
    except ConfigError as error:
        print(f"moongate: {error}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, EOFError):  # Ctrl-C, or Ctrl-D at a question
        print(file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output has closed it; the flush at exit must not fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1


def command_parser(*complete: str) -> argparse.ArgumentParser:
    """The parser. Of the commands that are named here it has the options, too."""
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
        if name in complete:
            imported = importlib.import_module(module)
            sub.epilog, sub.formatter_class = imported.EPILOG, argparse.RawDescriptionHelpFormatter
            imported.arguments(sub)
    return parser


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version")

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"moongate {__version__}")
        parser.exit()
