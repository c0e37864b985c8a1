"""Which configuration file a command reads."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from moongate.errors import ConfigError
from moongate.gateway.config.load import Config, ReadOptions, read_config
from moongate.gateway.routing.routes import Routes

DEFAULT: Final = Path("config.json")
VARIABLE: Final = "MOONGATE_CONFIG"


def add_config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-c", "--config", type=Path, metavar="FILE", help=f"the configuration (default: ${VARIABLE}, else ./{DEFAULT})"
    )


def find_config(given: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file to read: `given`, else `$MOONGATE_CONFIG`, else `config.json` if it exists."""
    if given is not None:
        return given
    if environ.get(VARIABLE):
        return Path(environ[VARIABLE])
    return DEFAULT if DEFAULT.exists() else None


def load_config(given: Path | None, environ: Mapping[str, str]) -> Config:
    """The configuration in that file. Raises ConfigError if there is none."""
    path = find_config(given, environ)
    if path is None:
        raise ConfigError(f"there is no {DEFAULT} here: write one with 'moongate init', or name one with --config")
    return read_config(path, environ, ReadOptions(validate=Routes))
