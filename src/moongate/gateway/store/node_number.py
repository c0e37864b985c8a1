"""The number of this gateway among those that write into one database: ids of rows hold it.

It is claimed in the database at the first start and kept beside the journal, so that it is known while the database is
away. There are 64; when all are taken, the one whose gateway was heard of longest ago is given anew: gateways that run
say every minute that they still have theirs.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path
from typing import Final

from moongate.gateway.file_lock import lock_file
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.errors import StoreError
from moongate.gateway.store.row_ids import MAX_NODES

FILE: Final = "node"


def node_number(url: str, folder: Path) -> int:
    """An SQLite file belongs to one gateway, whose number is 0. A database that cannot be asked at the first start
    leaves the choice to chance, until the next start. Raises OSError."""
    if "://" not in url:
        return 0
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+", encoding="ascii") as file:
        lock_file(descriptor, wait=True)  # workers of a gateway have one number
        known = file.read().strip()
        if known.isdigit() and int(known) < MAX_NODES:
            return int(known)
        with contextlib.suppress(StoreError):
            number = _claimed(url)
            file.write(str(number))
            return number
    return secrets.randbelow(MAX_NODES)


def keep_number(database: Database, number: int) -> None:
    """The gateway with this number is still there."""
    database.run("UPDATE node SET claimed = ? WHERE number = ?", (int(time.time()), number))


def _claimed(url: str) -> int:
    database = open_database(url)
    try:
        with database.transaction():
            number = _free_number(database)
            database.run("DELETE FROM node WHERE number = ?", (number,))
            values = (number, secrets.token_hex(8), int(time.time()))
            database.run("INSERT INTO node (number, name, claimed) VALUES (?, ?, ?)", values)
            return number
    finally:
        database.close()


def _free_number(database: Database) -> int:
    taken = database.rows("SELECT number FROM node ORDER BY claimed, number")
    used = {int(row[0]) for row in taken}
    return next((number for number in range(MAX_NODES) if number not in used), int(taken[0][0]) if taken else 0)
