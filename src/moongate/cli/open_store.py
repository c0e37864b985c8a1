"""The store that a command works on: that of the configuration, else `moongate.db` in the gateway's folder.

Commands work on the store directly, whether a gateway runs or not; a gateway notices changed keys within a second.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from pathlib import Path

from moongate.cli.config_path import add_config_option, find_config
from moongate.cli.console import Console
from moongate.errors import ConfigError
from moongate.gateway.config.load import ReadOptions, read_config
from moongate.gateway.config.store_settings import Store
from moongate.gateway.http.client_key import home as gateway_home
from moongate.gateway.store.connect import is_server, open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.errors import StoreError
from moongate.gateway.store.worker_store import store_place
from moongate.gateway.store.writer import UsageWriter

CATCH_UP_SECONDS = 5.0


def add_store_options(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    parser.add_argument("--store", metavar="PLACE", help="another store: the path of an SQLite file, or postgresql://…")


def located_store(options: argparse.Namespace, console: Console) -> tuple[str, Path]:
    """The database and the folder of its journal. Raises ConfigError if the store is off."""
    settings = Store(place=options.store) if options.store else _configured(options, console)
    place = store_place(settings, gateway_home(console.environ))
    if place is None:
        raise ConfigError("the store is off: set 'store' in the configuration, or name one with --store")
    return place


@contextlib.contextmanager
def opened_store(
    options: argparse.Namespace, console: Console, *, may_be_new: bool = True, takes_journal: bool = True
) -> Iterator[Database]:
    """The database, with what is in the journal: of a gateway that runs no more, or of one that runs. A file that is
    not there is made, unless it must not be new. Raises ConfigError."""
    url, folder = located_store(options, console)
    if not may_be_new and not is_server(url) and not Path(url).exists():
        raise ConfigError(f"there is no store {url}: name another with --store")
    try:
        database = open_database(url)
        try:
            if takes_journal and any(folder.glob("*.journal")):
                with contextlib.suppress(StoreError):  # it can be read, but not written: the rows stay in the journal
                    UsageWriter(url, folder).catch_up(CATCH_UP_SECONDS)
            yield database
        finally:
            database.close()
    except StoreError as error:
        raise ConfigError(str(error)) from None


def _configured(options: argparse.Namespace, console: Console) -> Store:
    path = find_config(options.config, console.environ)
    return (
        Store() if path is None else read_config(path, console.environ, ReadOptions(provider_keys=False)).settings.store
    )
