"""`moongate route explain NAME`: scores, prices and health of a route's targets, and which one a new session gets."""

from __future__ import annotations

import argparse
import sys
import urllib.error
import urllib.parse
import urllib.request
from typing import Final

from moongate.cli.config_path import add_config_option, find_config
from moongate.cli.console import Console
from moongate.cli.tables import print_json, print_table
from moongate.errors import ConfigError, GatewayError
from moongate.gateway.config.load import Config, ReadOptions, read_config
from moongate.gateway.http.client_key import ADMIN_FILE
from moongate.gateway.http.client_key import home as gateway_home
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.routing.routes import Routes
from moongate.gateway.state import GatewayState
from moongate.payload import JsonObject, object_of

TIMEOUT: Final = 5.0  # seconds
EPILOG = """\
example:
  moongate route explain kimi

The running gateway is asked, at its admin listener; without one, nothing is known but the configuration and prices.
exit codes: 0 success, 1 the gateway refused, 2 the configuration is invalid or nothing has this name"""
COLUMNS: Final = ("target", "rank", "share", "health", "score", "interval", "raw", "answers", "price", "latency_s")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("explain",), metavar="explain", help="show how a route chooses now")
    parser.add_argument("name", metavar="NAME", help="a route, or any name that clients may ask for (kimi:quality)")
    add_config_option(parser)
    parser.add_argument("--url", metavar="URL", help="the admin listener's address (default: as configured)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, console: Console) -> int:
    path = find_config(options.config, console.environ)
    if path is None:
        raise ConfigError("there is no configuration: name one with --config")
    config = read_config(path, console.environ, ReadOptions(provider_keys=False, validate=Routes))
    try:
        found = _asked(config, options, console)
    except urllib.error.HTTPError as error:
        print(f"moongate: {_refused(error)}", file=sys.stderr)
        return 1
    if found is None:
        print("moongate: no gateway answers for this name, so scores and health are not known", file=sys.stderr)
    try:
        explained = found or _from_configuration(config, options.name)
    except GatewayError as error:
        raise ConfigError(error.message, path="NAME") from None
    print_json(explained) if options.json else _print(explained)
    return 0


def _asked(config: Config, options: argparse.Namespace, console: Console) -> JsonObject | None:
    """What the running gateway says; None if there is none."""
    admin = config.settings.admin
    if admin is None and options.url is None:
        return None
    key = admin.key if admin is not None else ""
    file = gateway_home(console.environ) / ADMIN_FILE
    if not key and file.exists():
        key = file.read_text(encoding="ascii").strip()
    root = options.url.rstrip("/") if options.url else f"http://{admin.host}:{admin.port}" if admin else ""
    query = urllib.parse.urlencode({"name": options.name})
    request = urllib.request.Request(f"{root}/admin/v1/routes?{query}", headers={"authorization": f"Bearer {key}"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=TIMEOUT) as answer:
            found = object_of(answer.read())
    except urllib.error.HTTPError as error:
        if error.code == 404:  # it may have another configuration: what this one says is reported as its error
            return None
        raise
    except (urllib.error.URLError, OSError):
        return None
    rows = found.get("data") if found is not None else None
    return rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None


def _refused(error: urllib.error.HTTPError) -> str:
    """Which gateway refused, and what to do."""
    root = (error.url or "").partition("/admin/")[0]
    hint = ": it has another admin key; --url names another gateway" if error.code in (401, 403) else ""
    return f"the gateway at {root} answered with status {error.code}{hint}"


def _from_configuration(config: Config, name: str) -> JsonObject:
    state = GatewayState(config, config.client_keys, Metrics(SharedCounters()), None)
    try:
        return state.explain(name)[0]
    finally:
        state.close()


def _print(explained: JsonObject) -> None:
    sticky = "sticky" if explained["sticky"] else "not sticky"
    print(f"{explained['name']}: {explained['strategy']}, {sticky}, {explained['explore']:.0%} of new sessions explore")
    print(f"a new session goes to {' or '.join(explained['chosen'])} ({explained['reason']})\n")
    rows = []
    for each in explained["targets"]:
        typical = each["prices"]["typical"]
        rows.append(
            {
                **each,
                "share": f"{each['share']:.1%}",
                "score": f"{each['score']:.3f}",
                "interval": f"{each['low']:.3f}-{each['high']:.3f}",
                "raw": f"{each['raw']:.3f}",
                "price": "?" if typical is None else f"${typical:.2f}",
                "latency_s": "?" if each["latency"] is None else f"{each['latency']:.2f}",
            }
        )
    print_table(rows, COLUMNS)
