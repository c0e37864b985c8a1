"""`moongate prices`: what tokens cost, by the configuration and by the table that ships with the program."""

from __future__ import annotations

import argparse

from moongate.cli.config_path import add_config_option, find_config
from moongate.cli.console import Console
from moongate.cli.tables import print_json, print_table
from moongate.gateway.config.load import Config, ReadOptions, read_config
from moongate.payload import JsonObject
from moongate.prices.price import KINDS, TokenPrices, shown, token_prices
from moongate.prices.price_rows import ROWS, find_price

EPILOG = """\
example:
  moongate prices --config config.json

Dollars per million tokens; "?" is unknown. 'price' of a model in the configuration overrides the table, whose prices
are from the sources that it names, not from the vendors' own pages.
exit codes: 0 success, 2 the configuration is invalid"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, console: Console) -> int:
    path = find_config(options.config, console.environ)
    rows = (
        _table() if path is None else _configured(read_config(path, console.environ, ReadOptions(provider_keys=False)))
    )
    print_json(rows) if options.json else print_table(rows, (*("host", "model"), *KINDS, "source", "date"))
    return 0


def _table() -> list[JsonObject]:
    return [
        {
            "host": row.domains[0],
            "model": row.model,
            **_shown(row.prices),
            "source": row.source,
            "date": row.date,
        }
        for row in ROWS
    ]


def _configured(config: Config) -> list[JsonObject]:
    rows = []
    for source in config.sources:
        for model in source.models:
            row: JsonObject = {"host": source.name, "model": model.name}
            found = find_price(source.settings.base_url, model.name)
            if model.price:
                row |= {**_shown(token_prices(model.price)), "source": "the configuration"}
            elif found is not None:
                row |= {**_shown(found.prices), "source": found.source, "date": found.date}
            else:
                row |= {**_shown(TokenPrices(None, None)), "source": "unknown"}
            rows.append(row)
    return rows


def _shown(prices: TokenPrices) -> JsonObject:
    return {kind: shown(getattr(prices, kind)) for kind in KINDS}
