"""Which configuration a command means."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Final

from moongate.errors import ConfigError
from moongate.gateway.config.load import Config, read_config

DEFAULT: Final = Path("config.json")
VARIABLE: Final = "MOONGATE_CONFIG"


def add_config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-c", "--config", type=Path, metavar="FILE", help=f"the configuration (default: ${VARIABLE}, else ./{DEFAULT})"
    )


def located(given: Path | None) -> Path | None:
    """The file to read: as given, `$MOONGATE_CONFIG`, or `config.json` if there is one."""
    if given is not None:
        return given
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    return DEFAULT if DEFAULT.exists() else None


def required(given: Path | None) -> Config:
    """The configuration. Raises ConfigError if there is none."""
    path = located(given)
    if path is None:
        raise ConfigError(f"there is no {DEFAULT} here: write one with 'moongate init', or name one with --config")
    return read_config(path)
