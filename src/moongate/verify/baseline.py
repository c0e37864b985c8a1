"""`--baseline FILE`: the results of a vendor that is trusted. Where it called, a call is due. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from moongate.payload import JsonObject
from moongate.verify.case import PlannedCase
from moongate.verify.observation import CALLS


def with_baseline(planned: list[PlannedCase], rows: Iterable[JsonObject]) -> list[PlannedCase]:
    """The plan, with what is due taken from the rows: ours by suite and case, those of K2-Vendor-Verifier by
    `data_index`. A case that the baseline has not is not judged by it. Failed rows say nothing."""
    by_case: dict[tuple[str, str], bool] = {}
    by_index: dict[int, bool] = {}
    for row in rows:
        if row.get("status") == "failed":
            continue
        called = row.get("finish_reason") == CALLS
        ours = row.get("moongate")
        if isinstance(ours, dict):
            by_case.setdefault((str(ours.get("suite")), str(ours.get("case"))), called)
        elif isinstance(row.get("data_index"), int):
            by_index[row["data_index"]] = called
    found = []
    for each in planned:
        case = each.case
        due = by_case.get((case.suite, case.name))
        if due is None and case.suite == "data":
            due = by_index.get(int(case.name))
        found.append(replace(each, case=replace(case, due=due)) if case.suite in ("tools", "data") else each)
    return found


def data_case_rows(lines: Iterable[tuple[int, JsonObject]]) -> Iterable[tuple[int, JsonObject]]:
    """Sample bodies as they are sent: the role `_input` is `system`."""
    for number, body in lines:
        messages = body.get("messages")
        if isinstance(messages, list):
            turned = [
                {**each, "role": "system"} if isinstance(each, dict) and each.get("role") == "_input" else each
                for each in messages
            ]
            body = {**body, "messages": turned}
        yield number, body
