"""`python -m tests.soak [--short] [scenario …]`: runs scenarios, prints their figures; 1 if a limit is exceeded."""

from __future__ import annotations

import argparse
import asyncio
import math
import resource
import sys
from collections.abc import Awaitable, Callable, Mapping

import uvloop
from tests.soak.backpressure import backpressure
from tests.soak.billing import billing, billing_on_postgres
from tests.soak.bombs import bombs
from tests.soak.cancels import cancels
from tests.soak.crosstalk import crosstalk
from tests.soak.day import day
from tests.soak.disconnects import disconnects
from tests.soak.reloads import reloads
from tests.soak.report import Report
from tests.soak.slow import slow_clients, slowhttptest
from tests.soak.usage_rate import usage_rate

Scenario = Callable[[], Awaitable[Report | list[Report]]]

FULL: Mapping[str, Scenario] = {
    "disconnects": disconnects,
    "crosstalk": crosstalk,
    "cancels": cancels,
    "backpressure": backpressure,
    "bombs": bombs,
    "slow": slow_clients,
    "slowhttptest": slowhttptest,
    "reloads": reloads,
    "billing": billing,
    "billing-postgres": billing_on_postgres,
    "usage-rate": usage_rate,
    "day": day,
}
# Small, with generous limits where a busy machine matters.
SHORT: Mapping[str, Scenario] = {
    "disconnects": lambda: disconnects(60, seconds=1.5, most_ms=10_000, rounds=1),
    "crosstalk": lambda: crosstalk(1000),
    "cancels": lambda: cancels(300),
    "backpressure": lambda: backpressure(12, seconds=2, most=100),
    "bombs": lambda: bombs(3, size=40, back=60),
    "slow": lambda: slow_clients(40, deadline=3, factor=math.inf),
    "reloads": lambda: reloads(3, callers=5),
    "billing": lambda: billing(1500, clients=16, keys=20),
    "usage-rate": lambda: usage_rate(6.0, most_mib=20),
    "day": lambda: day(480, most_mib=80),  # tools are still being learned
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("scenarios", nargs="*", help=f"of {', '.join(FULL)}; default: all")
    options = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    known = SHORT if options.short else FULL
    good = True
    for name in options.scenarios or known:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            found = runner.run(_listed(known[name]))
        for report in found:
            print(report.table(), flush=True)
            good = good and report.good
    return 0 if good else 1


async def _listed(scenario: Scenario) -> list[Report]:
    found = await scenario()
    return found if isinstance(found, list) else [found]


if __name__ == "__main__":
    sys.exit(main())
