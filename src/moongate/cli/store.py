"""`moongate store`: back up, check and export the database with keys and usage; show who changed what."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from moongate.cli.console import Console
from moongate.cli.open_store import add_store_options, opened_store
from moongate.cli.tables import print_json, print_table
from moongate.errors import BadRequest, ConfigError
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.copying import copy_store
from moongate.gateway.store.database import Database
from moongate.gateway.store.fields import key_view, team_view, time_text
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.record import LABEL_FIELDS, names_in
from moongate.gateway.store.row_ids import time_of
from moongate.gateway.store.usage import UsageTable
from moongate.payload import JsonObject, dumps_text

PAGE = 5000  # rows
AUDIT_COLUMNS = ("time", "actor", "action", "subject", "detail")
EPILOG = """\
example:
  moongate store backup /backup/moongate.db
  moongate store export > usage.jsonl

A backup is an SQLite store, taken while gateways may run. To restore it, stop them and put it in the place of
an SQLite store, or copy it into an empty database: moongate store restore FILE --store postgresql://…
exit codes: 0 success, 1 the check found damage, 2 the store cannot be used"""


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    backup = actions.add_parser("backup", help="copy the store to a file")
    backup.add_argument("file", type=Path, help="the file to write; it must not exist yet")
    check = actions.add_parser("check", help="look for damage")
    export = actions.add_parser("export", help="print keys, teams and every request as lines of JSON")
    restore = actions.add_parser("restore", help="copy a backup into an empty store, of SQLite or PostgreSQL")
    restore.add_argument("file", type=Path, help="the backup to read")
    audit = actions.add_parser("audit", help="show who changed which key or team, the latest change first")
    audit.add_argument("--limit", type=int, default=100, metavar="N", help="how many changes (default: 100)")
    audit.add_argument("--json", action="store_true", help="print JSON")
    for sub in (backup, restore, check, export, audit):
        add_store_options(sub)


def run(options: argparse.Namespace, console: Console) -> int:
    restores = options.action == "restore"  # into an empty store: what the journal has comes later
    with opened_store(options, console, may_be_new=restores, takes_journal=not restores) as database:
        if options.action == "backup":
            if options.file.exists():
                raise ConfigError(f"there is a file {options.file} already")
            database.backup(options.file)
            print(f"{database.place} was copied to {options.file}")
            return 0
        if options.action == "restore":
            return _restore(options.file, database)
        if options.action == "export":
            for line in exported(database):
                sys.stdout.write(dumps_text(line) + "\n")
            return 0
        if options.action == "audit":
            lines = KeyStore(database).audit(limit=max(1, options.limit))
            shown = [{**line, "time": time_text(line["time"]), "detail": dumps_text(line["detail"])} for line in lines]
            print_json(lines) if options.json else print_table(shown, AUDIT_COLUMNS)
            return 0
        faults = database.check()
        print("\n".join(faults) if faults else f"ok {database.place}")
        return 1 if faults else 0


def _restore(file: Path, target: Database) -> int:
    if not file.is_file():
        raise ConfigError(f"there is no file {file}")
    source = open_database(str(file))
    try:
        copied = copy_store(source, target)
    except BadRequest as error:
        raise ConfigError(error.message) from None
    finally:
        source.close()
    print(f"{file} was copied to {target.place}: {copied} requests")
    return 0


def exported(database: Database) -> Iterator[JsonObject]:
    """Everything but digests, oldest usage first."""
    store, table, last = KeyStore(database), UsageTable(database), 0
    for team in store.teams():
        yield {"type": "team", **team_view(team)}
    for key in store.list_keys():
        yield {"type": "key", **key_view(key)}
    while ids := [
        row[0] for row in database.rows(f"SELECT id FROM usage WHERE id > ? ORDER BY id LIMIT {PAGE}", (last,))
    ]:
        for row in sorted(table.find(ids)):
            names = dict(zip(LABEL_FIELDS, names_in(row.label), strict=True))
            numbers = {name: value for name, value in row._asdict().items() if name not in ("id", "label")}
            unknown = {name: None for name in ("cost", "first_byte") if numbers[name] < 0}
            yield {"type": "usage", "id": str(row.id), "time": time_of(row.id), **names, **numbers, **unknown}
        last = ids[-1]
