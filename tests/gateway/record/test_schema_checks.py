from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from moongate.chat.verdict import CLEAN, Verdict
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.schema_checks import MAX_WAITING, SchemaChecks
from moongate.gateway.record.shared_counters import SharedCounters

DAMAGED = Verdict("damaged", ("schema_mismatch",))


def checks(drawn: float = 0.5) -> tuple[SchemaChecks, Metrics]:
    metrics = Metrics(SharedCounters())
    return SchemaChecks(metrics, lambda: drawn), metrics


def skipped(metrics: Metrics) -> int:
    return metrics.slots.totals()["moongate_schema_checks_skipped_total\t\t"]


@pytest.mark.parametrize(("share", "wanted"), [(0.0, False), (0.4, False), (0.6, True), (1.0, True)])
def test_a_share_of_answers_is_checked(share: float, wanted: bool) -> None:
    assert checks()[0].wants(share) is wanted


def run(one: SchemaChecks, check: Callable[[], Verdict]) -> Verdict | None:
    async def main() -> Verdict | None:
        found: asyncio.Future[Verdict | None] = asyncio.get_running_loop().create_future()
        one.run(check, found.set_result)
        return await found

    return asyncio.run(main())


def test_a_check_runs_in_a_thread_and_is_told_on_the_loop() -> None:
    one, _ = checks()
    threads = []

    def check() -> Verdict:
        threads.append(threading.current_thread())
        return DAMAGED

    assert run(one, check) == DAMAGED
    assert threads[0] is not threading.main_thread()
    one.close()
    one.close()


def test_a_check_that_fails_changes_nothing_and_is_counted() -> None:
    def broken() -> Verdict:
        raise RuntimeError("a transformer from outside")

    one, metrics = checks()
    assert run(one, broken) is None
    assert skipped(metrics) == 1
    one.close()


def test_what_waits_is_limited() -> None:
    one, metrics = checks()
    go_on = threading.Event()

    def slow() -> Verdict:
        go_on.wait(10)
        return CLEAN

    async def main() -> list[Verdict | None]:
        found: list[Verdict | None] = []
        for _ in range(MAX_WAITING + 5):
            one.run(slow, found.append)
        assert found == [None] * 5
        go_on.set()
        while len(found) < MAX_WAITING + 5:
            await asyncio.sleep(0.01)
        return found

    assert asyncio.run(main())[5:] == [CLEAN] * MAX_WAITING
    assert skipped(metrics) == 5
    one.close()
