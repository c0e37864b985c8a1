"""`python -m tests.fleet [--short] [--json FILE] [scenario …]`: two gateways, each on a machine of its own.

Exits with 1 if a limit is broken.
Needs root (network namespaces), Redis or Valkey, PostgreSQL and nginx. `--json` keeps all figures, and what clients
saw in the drills; `make docs` makes tables of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import uvloop
from tests.fleet.drills import DRILLS, DrillResult, run_drill
from tests.fleet.exact import exact
from tests.fleet.mixed import mixed
from tests.soak.report import Report

T = TypeVar("T")
SCENARIOS = ("exact", *(drill.name for drill in DRILLS), "mixed")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fleet")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", type=Path, help="where the results are kept; those of other scenarios stay there")
    parser.add_argument("names", nargs="*", help=f"of {', '.join(SCENARIOS)}; default: all")
    options = parser.parse_args()
    if unknown := set(options.names) - set(SCENARIOS):
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}")
    good = True
    for name in options.names or SCENARIOS:
        report, seconds = _run(name, short=options.short)
        print(report.table(), flush=True)
        good = good and report.good
        if options.json is not None:
            _keep(options.json, name, report, seconds)
    return 0 if good else 1


def _run(name: str, *, short: bool) -> tuple[Report, DrillResult | None]:
    if name == "exact":
        return _wait(exact(9 if short else 30)), None
    if name == "mixed":
        return _wait(mixed(50, clients=8, keys=40) if short else mixed()), None
    drill = next(each for each in DRILLS if each.name == name)
    result = _wait(run_drill(drill, 2, 3, 3) if short else run_drill(drill))
    return result.report, result


def _wait(scenario: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(scenario)


def _keep(path: Path, name: str, report: Report, result: DrillResult | None) -> None:
    kept = json.loads(path.read_text()) if path.exists() else {}
    entry: dict[str, object] = {"figures": [[figure.name, figure.value] for figure in report.figures]}
    if result is not None:
        rows = [[round(value) for value in row] for row in result.rows]
        entry |= {"title": result.drill.title, "away": result.away, "back": result.back, "rows": rows}
    kept[name] = entry
    lines = [f"{json.dumps(each)}: {json.dumps(value)}" for each, value in kept.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    sys.exit(main())
