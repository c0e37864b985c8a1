"""`moongate usage`: who used what, and what it cost, out of the daily sums."""

from __future__ import annotations

import argparse

from moongate.cli.console import Console
from moongate.cli.open_store import add_store_options, opened_store
from moongate.cli.tables import bar, print_csv, print_json, print_table
from moongate.errors import BadRequest, ConfigError
from moongate.gateway.limits.periods import day_from_text
from moongate.gateway.store.database import Database
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.usage import SUMS
from moongate.gateway.store.usage_report import DIMENSIONS, usage_sums
from moongate.payload import JsonObject

DOLLAR = 1_000_000
EPILOG = f"""\
example:
  moongate usage --by key,day --from 2026-11-01
  moongate usage --by team,model --csv > usage.csv

Dimensions: {", ".join(DIMENSIONS)}. Days are those of UTC. Costs of models without a price are not in the sums.
exit codes: 0 success, 2 the command line is wrong, or the store cannot be used"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_store_options(parser)
    parser.add_argument("--by", default="key", metavar="NAME,…", help="what to sum by (default: key)")
    parser.add_argument("--from", dest="first", metavar="DAY", help="the first day, like 2026-11-01")
    parser.add_argument("--to", dest="last", metavar="DAY", help="the last day")
    parser.add_argument("--csv", action="store_true", help="print CSV")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, console: Console) -> int:
    by = [name.strip() for name in options.by.split(",") if name.strip()]
    first, last = _day("--from", options.first), _day("--to", options.last)
    try:
        with opened_store(options, console) as database:
            rows = usage_sums(database, by, first_day=first, end_day=None if last is None else last + 1)
            names = _names(database)
    except BadRequest as error:
        raise ConfigError(error.message, path="--by") from None
    for row in rows:
        row["dollars"] = row.pop("cost") / DOLLAR
    columns = [*by, *(name if name != "cost" else "dollars" for name in SUMS)]
    if options.json:
        print_json(rows)
    elif options.csv:
        print_csv(rows, columns)
    else:
        print_table([_shown(row, rows, names) for row in rows], [*columns, "share"])
    return 0


def _day(option: str, text: str | None) -> int | None:
    try:
        return None if text is None else day_from_text(text)
    except ValueError:
        raise ConfigError(f"expected a day like 2026-11-18, found {text!r}", path=option) from None


def _names(database: Database) -> dict[str, str]:
    """The names of keys and teams by their ids."""
    store = KeyStore(database)
    return {key.id: key.name for key in store.list_keys() if key.name} | {team.id: team.name for team in store.teams()}


def _shown(row: JsonObject, rows: list[JsonObject], names: dict[str, str]) -> JsonObject:
    """A row for people: names in place of ids, and a bar for its share of the cost, else of the tokens."""
    found = {key: names.get(value, value) if key in ("key", "team") else value for key, value in row.items()}
    weigh = _dollars if any(each["dollars"] for each in rows) else _tokens
    most = max(map(weigh, rows))
    return {**found, "share": bar(weigh(row) / most) if most else ""}


def _dollars(row: JsonObject) -> float:
    return float(row["dollars"])


def _tokens(row: JsonObject) -> float:
    return float(row["input"] + row["cache_read"] + row["cache_write"] + row["output"])
