"""What everything costs: named configurations of one build, each against the bare one in the same run.

    python -m bench.costs [--quick] [--rounds N] [--python PATH [--source FOLDER]] [--json FILE]

A feature that is to be on record is one row of FEATURES. All configurations run at the same time and take turns within
each round; the bare one runs twice, and the difference of the two is the noise of the run.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from bench.contender import KEY, MODELS, Contender
from bench.contenders import AGAIN, COMPILED, again, build
from bench.harness import Bench
from bench.page_cost import ADMIN_KEY, OpenPage
from bench.process import free_port
from bench.rows import CHUNK, REQUEST, Row, turn_row
from bench.samples import Samples
from bench.table import number
from bench.turns import HEADLINE
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.entities import StoredKey, digest_of
from moongate.gateway.store.keys import KeyStore

BARE = "bare"
EVERYTHING = "everything at once"
BARE_SETTINGS: Mapping[str, object] = {"api_keys": "none", "log": {"format": "off"}, "store": "off", "judge": 0}
SCRAPE_SECONDS = 1.0


class Scraper(AbstractContextManager["Scraper"]):
    """Reads /metrics of the gateway on a port again and again, as Prometheus does, while something is measured."""

    def __init__(self, port: int) -> None:
        headers = {"authorization": f"Bearer {KEY}"}
        self._request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while True:
            with urllib.request.urlopen(self._request, timeout=10) as answer:
                answer.read()
            if self._over.wait(SCRAPE_SECONDS):
                return

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def nobody(port: int) -> AbstractContextManager[object]:
    return nullcontext()


@dataclass(frozen=True)
class Feature:
    """What is on beside the bare build: settings, environment, and what happens beside the load."""

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    beside: Callable[[int], AbstractContextManager[object]] = nobody  # gets the gateway's port
    prefix: str = ""  # before the model's name, if not the usual one
    page: bool = False  # somebody has the inspector's list of requests open
    apart: bool = False  # not a part of everything at once
    prepare: Callable[[dict[str, Any], Path], None] | None = None  # gets the configuration, and the gateway's folder


def with_stored_key(config: dict[str, Any], folder: Path) -> None:
    """The client's key is one of the store, with every limit, and every model has a price."""
    database = open_database(str(folder / "usage.db"))
    limits = LimitSet(10**6, 10**9, 6000, budget=10**15, token_budget=10**15, reset="month")
    KeyStore(database).create_key(StoredKey("", b"", "", limits=limits), "bench")
    database.run("UPDATE client_key SET digest = ?", (digest_of(KEY),))
    database.close()
    del config["api_keys"]
    for provider in config["providers"]:
        provider["models"] = [{"name": model, "price": {"input": 3, "output": 15}} for model in provider["models"]]


TRACES = {  # nobody listens at this address: what is sampled is made and thrown away
    "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9",
    "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
    "OTEL_TRACES_SAMPLER_ARG": "0.01",
}
ROUTED = "routed-"  # before the names of routes
FEATURES = (
    Feature("a client key", {"api_keys": [KEY]}),
    Feature(
        "client keys with rate and concurrency",
        {"api_keys": [{"key": KEY, "name": "bench", "rate": 1_000_000, "concurrency": 6000}]},
    ),
    Feature("JSON log", {"log": {"format": "json"}}),
    Feature("metrics scraped every second", {"metrics": "clients"}, beside=Scraper),
    Feature("usage in SQLite", {"store": "usage.db"}),
    Feature("… a stored key with every limit and a budget, prices", {"store": "usage.db"}, prepare=with_stored_key),
    Feature("judge at its default", {"judge": 0.05}),
    Feature("traces, 1 % of the requests", env=TRACES),
    Feature("inspector open", page=True),
    Feature("all requests captured (inspect)", {"inspect": True}, apart=True),
    Feature(
        "a route of two targets",
        {"routes": {f"{ROUTED}{model}": {"targets": [f"plain,{model}", f"agent,{model}"]} for model in MODELS}},
        prefix=ROUTED,
    ),
)
ROWS = (turn_row(HEADLINE, "chat"), REQUEST, CHUNK)


def everything(features: tuple[Feature, ...]) -> Feature:
    """All that are not apart, in one configuration; of two that set the same, the later one wins."""
    features = tuple(feature for feature in features if not feature.apart)
    settings: dict[str, object] = {}
    env: dict[str, str] = {}
    for feature in features:
        settings |= feature.settings
        env |= feature.env
    beside = next((each.beside for each in features if each.beside is not nobody), nobody)
    prefix = next((each.prefix for each in features if each.prefix), "")
    prepare = next((each.prepare for each in features if each.prepare is not None), None)
    page = any(feature.page for feature in features)
    return Feature(EVERYTHING, settings, env, beside, prefix, page, prepare=prepare)


def configured(feature: Feature, python: str, source: str, admin: int | None = None) -> Contender:
    """`admin`: the port of its page, if somebody opens it."""
    settings = {**BARE_SETTINGS, **feature.settings}
    if admin is not None:
        settings["admin"] = {"port": admin, "key": ADMIN_KEY}
    made = build(feature.name, python, source=source, env=feature.env, settings=settings, prepare=feature.prepare)
    return replace(made, prefix=feature.prefix) if feature.prefix else made


def measured(features: tuple[Feature, ...], bench: Bench, rounds: int, pages: Mapping[str, int]) -> None:
    """`pages`: the ports of those that somebody opens."""
    beside = {feature.name: feature.beside for feature in features}
    for _ in range(rounds):
        for row in ROWS:
            for contender in bench.order():
                admin, beside_it = pages.get(contender.name), beside.get(contender.name, nobody)
                with beside_it(bench.running[contender].port), nullcontext() if admin is None else OpenPage(admin):
                    bench.measure(contender, row)


def difference(samples: Samples, name: str, row: Row) -> str:
    """In µs and per cent of the bare build, from the ratios round by round."""
    ratio, bare = samples.ratio(name, row.figure, BARE), samples.median(BARE, row.figure)
    if ratio is None or bare is None:
        return ""
    return f"{(ratio - 1) * bare:+.1f} µs ({ratio - 1:+.1%})".replace("%", " %")


def printed(samples: Samples) -> str:
    lines = [f"| | {' | '.join(row.name for row in ROWS)} |", "|---" * (len(ROWS) + 1) + "|"]
    bare = [number(samples.median(BARE, row.figure) or 0.0) + " µs" for row in ROWS]
    lines.append(f"| {BARE} | {' | '.join(bare)} |")
    for name in samples.values:
        if name != BARE:
            cells = [difference(samples, name, row) for row in ROWS]
            lines.append(f"| {'the same again (noise)' if name == BARE + AGAIN else name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--python", default=str(COMPILED))
    options.add_argument("--source", default="", help="folder that the package is taken from, if not the installed one")
    options.add_argument("--json", type=Path)
    asked = options.parse_args()
    features = (*FEATURES, everything(FEATURES))
    bare = configured(Feature(BARE), asked.python, asked.source)
    pages = {feature.name: free_port() for feature in features if feature.page}
    others = [configured(feature, asked.python, asked.source, pages.get(feature.name)) for feature in features]
    with Bench([bare, again(bare), *others], quick=asked.quick) as bench:
        measured(features, bench, asked.rounds, pages)
    print(printed(bench.samples))
    for name, why in bench.skipped.items():
        print(f"{name}: skipped, {why}")
    if asked.json:
        asked.json.write_text(json.dumps({"samples": bench.samples.values}, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
