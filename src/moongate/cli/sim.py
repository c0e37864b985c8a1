"""`moongate sim`: runs the simulator alone."""

from __future__ import annotations

import argparse

from moongate.cli.console import Console
from moongate.errors import ConfigError
from moongate.sim import listed_models, main

EPILOG = """\
example:
  moongate sim --port 3999 --play strict-walls"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="HOST", help="the address to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--port", type=int, default=3999, metavar="PORT", help="the port, 0 for any (default: %(default)s)"
    )
    parser.add_argument("--play", default="", metavar="ROWS", help="behaviour of every request, such as strict-walls")
    parser.add_argument("--models", action="store_true", help="list the model names that select a behaviour, and exit")


def run(options: argparse.Namespace, _console: Console) -> int:
    if options.models:
        print("\n".join(listed_models()))
        return 0
    if not 0 <= options.port <= 65535:
        raise ConfigError(f"expected 0 … 65535, found {options.port}", path="--port")
    main(options.host, options.port, options.play)
    return 0
