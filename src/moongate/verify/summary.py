"""The summary of a run, row by row: what K2-Vendor-Verifier writes, and beside it what it does not see. Pure.

It does not depend on the order of the rows, so a run that was killed and resumed has the summary of one that was not.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Final

from moongate.payload import JsonObject
from moongate.prices.summed import summed_usage
from moongate.prices.tokens import counts_of
from moongate.verify.examples import WorstExamples
from moongate.verify.observation import CALLS
from moongate.verify.tally import SideTally

OURS: Final = "moongate"
VERSION: Final = 1
SIDES: Final = ("raw", "repaired")


class RunSummary:
    """`add` every row once, then `as_json`."""

    def __init__(self, model: str, target: str) -> None:
        self._model, self._target = model, target
        self.sides = {name: SideTally() for name in SIDES}
        self._statuses: Counter[str] = Counter()
        self._finishes: Counter[str] = Counter()
        self._valid: Counter[bool] = Counter()
        self._suites: Counter[str] = Counter()
        self._repairs: Counter[str] = Counter()
        self._learned: set[str] = set()  # how often depends on how many requests are under way at once
        self._mended = self._requests = self._retries = self._unknown_costs = 0
        self._usage: JsonObject | None = None
        self._cost = 0
        self._estimated_tokens = self._estimated_cost = 0  # of answers without usage
        self._started: datetime | None = None
        self._finished: datetime | None = None
        self.answered = 0  # samples that got an answer
        self._examples = WorstExamples()

    @property
    def tokens(self) -> int:
        counts = counts_of(self._usage)
        return 0 if counts is None else counts.total

    @property
    def cost_micros(self) -> int | None:
        """None: nothing is known of what it cost."""
        return None if self._cost == 0 and self._unknown_costs else self._cost

    @property
    def spent(self) -> tuple[int, int]:
        """Tokens and millionths of a dollar, estimated where the vendor did not say."""
        return self.tokens + self._estimated_tokens, self._cost + self._estimated_cost

    def add(self, row: JsonObject) -> None:
        ours = row[OURS]
        suite = ours["suite"]
        for name, tally in self.sides.items():
            mended = name == "repaired" and ours["mended"]
            tally.add(suite, ours[name], ours["due"], mended=mended)
        self._suites[suite] += 1
        self._repairs.update(ours["repairs"])
        self._learned.update(ours["learned"])
        self._mended += ours["mended"]
        self._retries += ours["retries"]
        self.answered += row["status"] == "success"
        self._requests += ours["requests"]
        self._usage = summed_usage([self._usage, ours["usage"]])
        self._unknown_costs += ours["cost_micros"] is None
        self._cost += ours["cost_micros"] or 0
        self._estimated_tokens += ours["estimated"]["tokens"]
        self._estimated_cost += ours["estimated"]["cost_micros"] or 0
        self._times(row)
        self._examples.add(row)
        if suite != "contract":
            self._count_k2vv(row)

    def _count_k2vv(self, row: JsonObject) -> None:
        """What K2-Vendor-Verifier counts."""
        self._statuses[row["status"]] += 1
        finish = row["finish_reason"]
        if finish:
            self._finishes[finish] += 1
        if finish == CALLS:
            self._valid[row["tool_calls_valid"] is True] += 1

    def _times(self, row: JsonObject) -> None:
        ended = datetime.fromisoformat(row["last_run_at"])
        began = ended - timedelta(milliseconds=row["duration_ms"])
        self._started = min(self._started or began, began)
        self._finished = max(self._finished or ended, ended)

    def _span(self) -> JsonObject:
        begun, ended = self._started, self._finished
        if begun is None or ended is None:
            return {"eval_started_at": None, "eval_finished_at": None, "eval_duration_ms": 0}
        span = {"eval_started_at": begun.isoformat(), "eval_finished_at": ended.isoformat()}
        return {**span, "eval_duration_ms": round((ended - begun) / timedelta(milliseconds=1))}

    def as_json(self) -> JsonObject:
        others = {name: count for name, count in sorted(self._finishes.items()) if name not in ("stop", CALLS)}
        raw = self.sides["raw"]
        return {
            "model": self._model,
            "success_count": self._statuses["success"],
            "failure_count": self._statuses["failed"],
            "finish_stop": self._finishes["stop"],
            "finish_tool_calls": self._finishes[CALLS],
            "finish_others": sum(others.values()),
            "finish_others_detail": others,
            "schema_validation_error_count": self._valid[False],
            "successful_tool_call_count": self._valid[True],
            "usage": self._usage or {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
            **self._span(),
            "schema_accuracy": raw.rate("schema")["value"],
            "tool_call_f1": raw.rate("f1")["value"],
            OURS: self._own_fields(),
        }

    def _own_fields(self) -> JsonObject:
        return {
            "version": VERSION,
            "target": self._target,
            "samples": sum(self._suites.values()),
            "suites": dict(sorted(self._suites.items())),
            "requests": self._requests,
            "retries": self._retries,
            "tokens": self.tokens,
            "tokens_estimated": self._estimated_tokens,
            "cost_micros": self.cost_micros,
            **{name: tally.as_json() for name, tally in self.sides.items()},
            "repairs": dict(sorted(self._repairs.items())),
            "learned": sorted(self._learned),
            "mended_by_design": self._mended,
            "worst": self._examples.as_json(),
        }
