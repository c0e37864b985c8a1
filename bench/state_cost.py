"""What shared limits cost: the same gateway with limits of its own, and with limits in Redis on loopback.

    python -m bench.state_cost [--quick] [--rounds N] [--python PATH] [--json FILE]

All gateways run at the same time and take turns. Two of them share one Redis: what a request costs there, and what it
costs Redis, says how far two gateways grow.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.contender import KEY
from bench.contenders import COMPILED
from bench.costs import BARE_SETTINGS, Feature, configured
from bench.harness import Bench
from bench.rows import REQUEST

LIMITS = {**BARE_SETTINGS, "api_keys": [{"key": KEY, "name": "bench", "rate": 1_000_000, "concurrency": 6000}]}
OWN, ONE, OTHER = "limits of its own", "limits in Redis", "limits in Redis, second gateway"
LATENCY = "added latency p50, ms"


@contextmanager
def redis() -> Iterator[tuple[str, int]]:
    """Its URL and the id of its process."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    assert program is not None, "Redis or Valkey is not installed"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "--port", str(port), "--save", "", "--dir", folder]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            time.sleep(1)
            yield f"redis://127.0.0.1:{port}", process.pid
            process.terminate()


def cpu_of(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--python", default=str(COMPILED))
    options.add_argument("--json", type=Path)
    asked = options.parse_args()
    with redis() as (url, process):
        features = [Feature(OWN, LIMITS)]
        # A deadline that a busy machine keeps: otherwise what is measured is a gateway that goes alone.
        features += [
            Feature(name, {**LIMITS, "state": {"url": url, "node": node, "deadline": 1}})
            for name, node in ((ONE, "a"), (OTHER, "b"))
        ]
        contenders = [configured(feature, asked.python, "") for feature in features]
        with Bench(contenders, quick=asked.quick) as bench:
            spent = 0.0
            for _ in range(asked.rounds):
                for contender in bench.order():
                    before = cpu_of(process)
                    bench.measure(contender, REQUEST)
                    spent += cpu_of(process) - before if contender.name == ONE else 0
                bench.latency()
        samples = bench.samples
    asked_for = asked.rounds * (REQUEST.requests // 4 if asked.quick else REQUEST.requests)
    found = {
        "cpu": {name: samples.median(name, REQUEST.figure) for name in (OWN, ONE, OTHER)},
        "latency": {name: samples.median(name, LATENCY) for name in (OWN, ONE, OTHER)},
        "redis cpu": spent * 1e6 / asked_for,
        "skipped": bench.skipped,
    }
    text = json.dumps(found, indent=1)
    print(text)
    if asked.json:
        asked.json.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
