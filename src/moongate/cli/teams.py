"""`moongate teams`: keys that share limits."""

from __future__ import annotations

import argparse
import sys

from moongate.cli.console import Console
from moongate.cli.keys import add_limit_options, given_fields
from moongate.cli.open_store import add_store_options, opened_store
from moongate.cli.tables import print_json, print_table
from moongate.errors import BadRequest, ConfigError
from moongate.gateway.store.entities import Team
from moongate.gateway.store.fields import changed_team, team_view
from moongate.gateway.store.keys import KeyStore

COLUMNS = ("id", "name", "models", "rpm", "tpm", "concurrency", "budget", "token_budget", "reset", "disabled")
EPILOG = """\
example:
  moongate teams create --name search --budget 500 --reset month
  moongate keys create --name ada --team team_0123456789abcdef

exit codes: 0 success, 2 the command line is wrong, there is no such team, or the store cannot be used"""


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = actions.add_parser("create", help="make a team")
    change = actions.add_parser("change", help="change what a team may do")
    listing = actions.add_parser("list", help="list the teams")
    show = actions.add_parser("show", help="show one team")
    disable = actions.add_parser("disable", help="refuse all keys of a team from now on")
    enable = actions.add_parser("enable", help="accept them again")
    delete = actions.add_parser("delete", help="delete a team that has no keys; its usage stays")
    for sub in (change, show, disable, enable, delete):
        sub.add_argument("id", help="the team's id, as 'teams list' shows it")
    for sub in (create, change):
        add_limit_options(sub)
    for sub in (create, change, listing, show, disable, enable, delete):
        add_store_options(sub)
        sub.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, console: Console) -> int:
    try:
        with opened_store(options, console) as database:
            return _run(options, KeyStore(database))
    except BadRequest as error:
        raise ConfigError(str(error)) from None


def _run(options: argparse.Namespace, store: KeyStore) -> int:
    action = options.action
    if action == "delete":
        store.delete_team(options.id, "cli")
        print(f"deleted {options.id}", file=sys.stderr)
        return 0
    if action == "list":
        teams = store.teams()
    elif action == "create":
        teams = [store.create_team(changed_team(Team("", ""), given_fields(options)), "cli")]
    elif action == "change":
        teams = [store.change_team(options.id, lambda team: changed_team(team, given_fields(options)), "cli")]
    elif action in ("disable", "enable"):
        disabled = {"disabled": action == "disable"}
        teams = [store.change_team(options.id, lambda team: changed_team(team, disabled), "cli")]
    else:
        teams = [store.team(options.id)]
    views = [team_view(team) for team in teams]
    if options.json:
        print_json(views if action == "list" else views[0])
    else:
        print_table(views, COLUMNS, zeros=True)
    return 0
