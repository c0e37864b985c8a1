"""The report for a terminal, and runs side by side. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from moongate.payload import JsonObject
from moongate.verify.tally import RATES

MEANINGS: Final = {
    "success": "requests that got an answer",
    "schema": "answers with calls whose calls all fit (schema_accuracy)",
    "calls_fit": "the same, whatever the finish reason says",
    "f1": "calls where they are due (tool_call_f1)",
    "precision": "of the calls, those that were due",
    "recall": "of the calls that were due, those made",
    "contract": "requests answered or refused as the contract says",
    "multiturn": "histories with odd ids that go on with the right call",
    "stream": "streams that are sound and equal the whole answer",
    "tools": "prompts answered as they should be, without any fault",
}


ASKED_TWICE: Final = {
    "multiturn": "two requests each, with the history as the client has it and as the chain makes it",
    "stream": "two requests each, streamed and whole",
}


def percent(rate: JsonObject) -> str:
    """`97.5 % (93.1 … 99.2)`, or `–` where nothing was measured."""
    if rate["value"] is None:
        return "–"
    low, high = rate["interval"]
    return f"{rate['value'] * 100:.1f} % ({low * 100:.1f} … {high * 100:.1f})"


def money(micros: int | None) -> str:
    return "unknown" if micros is None else f"${micros / 1_000_000:,.4f}"


def spent(ours: JsonObject) -> str:
    """`68,507 tokens, cost $0.0712`, and what is only estimated."""
    known = f"{ours['tokens']:,} tokens, cost {money(ours['cost_micros'])}"
    more = ours["tokens_estimated"]
    return f"{known}; about {more:,} more tokens in answers that say no usage" if more else known


def report_text(summary: JsonObject) -> str:
    """A table of the rates, then what was found and what was repaired."""
    ours = summary["moongate"]
    rows = [("", "raw", "repaired", "")]
    for name in RATES:
        raw, repaired = (ours[side]["rates"][name] for side in ("raw", "repaired"))
        if raw["of"] or repaired["of"]:
            rows.append((name, percent(raw), percent(repaired), MEANINGS[name]))
    head = f"{ours['target']}: {ours['samples']} samples, {ours['requests']} requests, {spent(ours)}"
    lines = [head, "", *_columns(rows), ""]
    faults = [("faults", "raw", "repaired")]
    both = {**ours["raw"]["faults"], **ours["repaired"]["faults"]}
    for fault in both:
        counts = [str(ours[side]["faults"].get(fault, {"hits": 0})["hits"]) for side in ("raw", "repaired")]
        faults.append((fault, *counts))
    lines += _columns(faults) if both else ["no faults"]
    for label, counts in (
        ("streams", ours["raw"]["stream_faults"]),
        ("ids", ours["raw"]["id_shapes"]),
        ("repairs", ours["repairs"]),
    ):
        if counts:
            lines.append(f"{label}: " + ", ".join(f"{name} × {count}" for name, count in counts.items()))
    if ours["learned"]:
        lines.append(f"learned from refusals: {', '.join(ours['learned'])}")
    lines += [f"{suite}: {words}" for suite, words in ASKED_TWICE.items() if suite in ours["suites"]]
    if ours["mended_by_design"]:
        lines.append(f"refused by the vendor, repaired by design: {ours['mended_by_design']} contract rows")
    return "\n".join(lines)


def compared_text(runs: Sequence[tuple[str, JsonObject]]) -> str:
    """The rates of several runs, raw and repaired, one column a run."""
    rows = [("", *(name for name, _ in runs))]
    rows.append(("target", *(summary["moongate"]["target"] for _, summary in runs)))
    rows.append(("samples", *(str(summary["moongate"]["samples"]) for _, summary in runs)))
    for side in ("raw", "repaired"):
        for name in RATES:
            rates = [summary["moongate"][side]["rates"][name] for _, summary in runs]
            if any(rate["of"] for rate in rates):
                rows.append((f"{side} {name}{_apart(rates)}", *(percent(rate) for rate in rates)))
    return "\n".join([*_columns(rows), "", "* the intervals do not overlap: the difference is no chance"])


def _apart(rates: Sequence[JsonObject]) -> str:
    """A mark where one interval ends before another begins."""
    measured = [rate["interval"] for rate in rates if rate["value"] is not None]
    return " *" if measured and max(low for low, _ in measured) > min(high for _, high in measured) else ""


def _columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
