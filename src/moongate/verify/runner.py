"""Runs a plan: some samples at the same time, each row written as it ends, until the plan or the budget is used up."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Final

from moongate.payload import JsonObject
from moongate.verify.budget import RunBudget
from moongate.verify.case import PlannedCase
from moongate.verify.client import VendorClient
from moongate.verify.results_file import Key, ResultsFile
from moongate.verify.sample import Sampler
from moongate.verify.summary import RunSummary

GIVE_UP_AFTER: Final = 5  # requests that nobody answered or that the vendor rejected, before any other answer


class RunEnd(Enum):
    """Why a run is over."""

    COMPLETE = "complete"
    BUDGET = "the budget is used up"
    INTERRUPTED = "interrupted"
    UNREACHABLE = "the vendor does not answer"
    REJECTED = "the vendor refuses key, model or address"


@dataclass(frozen=True, slots=True)
class VerifyRun:
    """What to do. `on_row` is called with every row."""

    planned: list[PlannedCase]
    done: set[Key]
    budget: RunBudget
    concurrency: int
    summary: RunSummary
    on_row: Callable[[JsonObject], None]


async def run_plan(run: VerifyRun, client: VendorClient, results: ResultsFile) -> tuple[RunEnd, str]:
    """Ask everything that is not done; why it ended, in words. A row leaves nothing in memory but its counts."""
    runner = _Runner(run, client, results)
    end = await runner.run()
    return end, runner.words()


class _Runner:
    def __init__(self, run: VerifyRun, client: VendorClient, results: ResultsFile) -> None:
        self._run, self._results = run, results
        self._sampler = Sampler(client)
        self._left: Iterator[PlannedCase] = (each for each in run.planned if each.key not in run.done)
        self._end = RunEnd.COMPLETE
        self._stopped = asyncio.Event()

    async def run(self) -> RunEnd:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
                loop.add_signal_handler(number, self._stop, RunEnd.INTERRUPTED)
        workers = [asyncio.create_task(self._work()) for _ in range(self._run.concurrency)]
        stopped = asyncio.create_task(self._stopped.wait())
        working = asyncio.create_task(_all(workers))
        try:
            await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
            if self._end in (RunEnd.COMPLETE, RunEnd.BUDGET):
                await working
        finally:
            tasks = (*workers, stopped, working)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return self._end

    async def _work(self) -> None:
        for planned in self._left:
            if self._end is not RunEnd.COMPLETE:
                return
            summary = self._run.summary
            if self._run.budget.used_up(*summary.spent):
                self._end = RunEnd.BUDGET  # what is under way is still waited for
                return
            row = await self._sampler.sample(planned)
            self._results.append(row)
            summary.add(row)
            self._run.on_row(row)
            if not self._sampler.reached and self._sampler.failures >= min(GIVE_UP_AFTER, len(self._run.planned)):
                last = self._sampler.last_failure
                self._stop(RunEnd.REJECTED if last is not None and last.is_rejected else RunEnd.UNREACHABLE)

    def words(self) -> str:
        """Why it has ended, with what was said last if that is the reason."""
        last = self._sampler.last_failure
        said = last.refusal if last is not None else None
        given_up = self._end in (RunEnd.UNREACHABLE, RunEnd.REJECTED)
        return f"{self._end.value}: {said.message}" if said is not None and given_up else self._end.value

    def _stop(self, end: RunEnd) -> None:
        self._end = end
        self._stopped.set()


async def _all(workers: list[asyncio.Task[None]]) -> bool:
    await asyncio.gather(*workers)
    return True
