"""A run of hours: memory does not grow with the samples."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.background import Background
from tests.support.length import by_length

from moongate.sim.server import start

TIMEOUT = 300.0
MODEL = "kimi-k2-sim-valid-90-leaked-markers-wrong-types"
# Runs the command, then prints samples, the peak of memory (KiB) and CPU time (ms).
MEASURED = """
import resource, sys
from moongate.cli import main
from moongate.cli.console import Console
code = main(sys.argv[1:], Console({}, interactive=False))
used = resource.getrusage(resource.RUSAGE_SELF)
print(code, used.ru_maxrss, round((used.ru_utime + used.ru_stime) * 1000), file=sys.stderr)
"""


def _measured(url: str, out: Path, runs: int) -> tuple[int, int, int]:
    """Samples, KiB, ms of CPU."""
    command = ["verify", "--base-url", url, "--model", MODEL, "--suite", "tools,schema", "--runs", str(runs)]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *command, "--out", str(out)], capture_output=True, timeout=TIMEOUT, check=True
    )
    code, memory, cpu = map(int, done.stderr.split()[-3:])
    assert code == 0
    return (out / "results.jsonl").read_bytes().count(b"\n"), memory, cpu


def test_memory_is_flat(tmp_path: Path) -> None:
    with Background() as background:
        url = background.start(start()).url
        few, before, cpu_before = _measured(url, tmp_path / "few", 1)
        many, after, cpu_after = _measured(url, tmp_path / "many", by_length(8, 19))
    assert many >= 8 * few
    assert after - before < 3000  # KiB; the rows of the larger run are several times that
    assert (tmp_path / "many" / "results.jsonl").stat().st_size > 2_000_000
    print(f"{(cpu_after - cpu_before) / (many - few):.2f} ms of CPU time for a further sample")
