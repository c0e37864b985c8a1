"""1 000 requests a second go through the journal into the database: memory stays flat, and nothing is left behind."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from tests.soak.report import Figure, Report

from moongate.gateway.store.connect import open_database
from moongate.gateway.store.journal import Journal, segments
from moongate.gateway.store.record import label_of
from moongate.gateway.store.usage_report import usage_sums
from moongate.gateway.store.writer import UsageWriter

RATE = 1000
STEP = 0.02  # seconds between two bursts
WARM_UP = 0.25  # share of the time after which memory is looked at for the first time
ESTIMATE = (0, 0, 0, 257, 0, 0, 1000, 0, 15_771, 1, -1, 0)
EXACT = (200, 1, 0, 388, 512, 0, 120, 0, 3118, 0, 210_000, 1_730_000)


async def usage_rate(seconds: float = 600.0, most_mib: float = 8.0) -> Report:
    with tempfile.TemporaryDirectory(prefix="soak-") as name:
        folder = Path(name)
        return await asyncio.to_thread(_run, folder, seconds, most_mib)


def _run(folder: Path, seconds: float, most_mib: float) -> Report:
    url, journal = str(folder / "moongate.db"), Journal(folder / "journal")
    writer = UsageWriter(url, folder / "journal")
    writer.start()
    labels = [label_of(f"key_{n}", "", "chat", "moonshot", f"model-{n % 3}", "clean") for n in range(200)]
    began, count, warm, largest = time.monotonic(), 0, 0.0, 0
    while (elapsed := time.monotonic() - began) < seconds:
        while count < elapsed * RATE:
            row_id, label = journal.ids.take(), labels[count % len(labels)]
            slot = journal.begin(row_id, label, b"req_0123456789ab", ESTIMATE)
            journal.end(slot, row_id, label, b"req_0123456789ab", EXACT)
            count += 1
        largest = max(largest, len(segments(folder / "journal")))
        if not warm and elapsed > seconds * WARM_UP:
            warm = _memory()
        time.sleep(STEP)
    grown = _memory() - warm
    journal.close()
    writer.close(60)
    database = open_database(url)
    stored = usage_sums(database, ())[0]["requests"]
    database.close()
    return Report(
        "usage-rate",
        (
            Figure("seconds", seconds, "s"),
            Figure("rows per second", count / seconds, least=RATE * 0.9),
            Figure("rows that are not stored", count - stored, most=0, least=0),
            Figure("memory that was added after a quarter of the time", grown, "MiB", most=most_mib),
            Figure("segments of the journal at the same time, most", largest, most=4),
            Figure("segments left in the journal", len(segments(folder / "journal")), most=0, least=0),
        ),
    )


def _memory() -> float:
    """Resident, of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / (1 << 20)
