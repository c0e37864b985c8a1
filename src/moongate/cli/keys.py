"""`moongate keys`: client keys in the store, made, shown, rotated and taken away."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from moongate.cli.console import Console
from moongate.cli.open_store import add_store_options, opened_store
from moongate.cli.tables import print_json, print_table
from moongate.errors import BadRequest, ConfigError
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.fields import changed_key, key_view, parse_duration
from moongate.gateway.store.keys import KeyStore
from moongate.payload import JsonObject

COLUMNS = (
    *("id", "label", "name", "team", "models", "rpm", "tpm", "concurrency", "budget", "token_budget", "reset"),
    *("expires", "last_used", "disabled"),
)
NONE = "none"  # takes away what a key or team has
_REMOVABLE = ("budget", "token_budget", "team", "expires")
EPILOG = """\
example:
  moongate keys create --name ada --budget 20 --reset month --models 'kimi-*'
  moongate keys rotate key_0123456789abcdef --grace 1d

A new key is printed once, on standard output; the store keeps only its digest.
exit codes: 0 success, 2 the command line is wrong, there is no such key, or the store cannot be used"""


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a key and print it")
    change = actions.add_parser("change", help="change what a key may do")
    listing = actions.add_parser("list", help="list the keys")
    listing.add_argument("--team", metavar="ID", help="only those of a team")
    show = actions.add_parser("show", help="show one key")
    rotate = actions.add_parser("rotate", help="give a key a new text and print it")
    rotate.add_argument("--grace", default="", metavar="TIME", help="how long the old text stays good (1d, 12h, 15m)")
    disable = actions.add_parser("disable", help="refuse a key from now on")
    enable = actions.add_parser("enable", help="accept a disabled key again")
    delete = actions.add_parser("delete", help="delete a key; its usage stays")
    for sub in (change, show, rotate, disable, enable, delete):
        sub.add_argument("id", help="the key's id, as 'keys list' shows it")
    for sub in (create, change):
        add_limit_options(sub)
        sub.add_argument("--team", metavar="ID", help="the team that it belongs to; none: no team")
        sub.add_argument("--expires", metavar="TIME", help="a date, or how long from now (30d); none: never")
    for sub in (create, change, listing, show, rotate, disable, enable, delete):
        add_store_options(sub)
        sub.add_argument("--json", action="store_true", help="print JSON")


def add_limit_options(parser: argparse.ArgumentParser) -> None:
    """What keys and teams have in common."""
    parser.add_argument("--name", help="for people and logs")
    parser.add_argument("--models", nargs="+", metavar="NAME", help="the only models that may be used; * and ? allowed")
    parser.add_argument("--rpm", type=int, metavar="N", help="requests per minute; 0: no limit")
    parser.add_argument("--tpm", type=int, metavar="N", help="tokens per minute; 0: no limit")
    parser.add_argument("--concurrency", type=int, metavar="N", help="requests at the same time; 0: no limit")
    parser.add_argument(
        "--budget", type=_or_none(float), metavar="DOLLARS", help=f"what may be spent until the reset; {NONE}: no limit"
    )
    parser.add_argument(
        "--token-budget", type=_or_none(int), metavar="N", help=f"tokens until the reset; {NONE}: no limit"
    )
    parser.add_argument("--reset", metavar="PERIOD", help="day, week, month, never or a number of days (7d), in UTC")


def given_fields(options: argparse.Namespace, *names: str) -> JsonObject:
    """The fields that stand on the command line."""
    all_names = ("name", "models", "rpm", "tpm", "concurrency", "budget", "token_budget", "reset", *names)
    given = {name: value for name in all_names if (value := getattr(options, name)) is not None}
    return {name: None if value == NONE and name in _REMOVABLE else value for name, value in given.items()}


def _or_none(kind: Callable[[str], float]) -> Callable[[str], float | str]:
    def parse(text: str) -> float | str:
        return text if text == NONE else kind(text)

    parse.__name__ = kind.__name__  # argparse says it of what is wrong
    return parse


def run(options: argparse.Namespace, console: Console) -> int:
    try:
        with opened_store(options, console) as database:
            return _run(options, KeyStore(database))
    except BadRequest as error:
        raise ConfigError(str(error)) from None


def _run(options: argparse.Namespace, store: KeyStore) -> int:
    action = options.action
    if action == "list":
        keys = [key_view(key) for key in store.list_keys(team=options.team)]
        print_json(keys) if options.json else print_table(keys, COLUMNS, zeros=True)
        return 0
    secret = ""
    if action == "create":
        key, secret = store.create_key(_changed(options, StoredKey("", b"", "")), "cli")
    elif action == "change":
        key = store.change_key(options.id, lambda key: _changed(options, key), "cli")
    elif action == "rotate":
        grace = parse_duration("grace", options.grace) if options.grace else 0
        key, secret = store.rotate_key(options.id, grace, "cli")
    elif action in ("disable", "enable"):
        disabled = {"disabled": action == "disable"}
        key = store.change_key(options.id, lambda key: changed_key(key, disabled, 0), "cli")
    elif action == "delete":
        store.delete_key(options.id, "cli")
        print(f"deleted {options.id}", file=sys.stderr)
        return 0
    else:
        key = store.key(options.id)
    if options.json:
        print_json({**key_view(key), **({"key": secret} if secret else {})})
    elif secret:
        print(secret)
        print(f"{key.id}: keep the key now, it is not shown again", file=sys.stderr)
    else:
        print_table([key_view(key)], COLUMNS, zeros=True)
    return 0


def _changed(options: argparse.Namespace, key: StoredKey) -> StoredKey:
    return changed_key(key, given_fields(options, "team", "expires"), time.time())
