"""One HTML file to send to a vendor: no script, no font, no image from elsewhere. Pure."""

from __future__ import annotations

from html import escape
from typing import Final

from moongate.payload import JsonObject
from moongate.verify.charts import WORTHS, fault_chart, interval_chart, worth_chart
from moongate.verify.page_style import STYLE
from moongate.verify.tally import RATES
from moongate.verify.text_report import MEANINGS, percent, spent

_SIDES: Final = ("raw", "repaired")


def html_report(summary: JsonObject) -> str:
    ours = summary["moongate"]
    title = f"{ours['target']}: tool calling"
    parts = [
        _head(title),
        f"<header><h1>{escape(ours['target'])}</h1><p>{_facts(summary)}</p></header>",
        _rates(ours),
        _worths(ours),
        _faults(ours),
        _details(ours),
        _examples(ours["worst"]),
        _method(ours),
        "</main></body></html>\n",
    ]
    return "\n".join(parts)


def _head(title: str) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<link rel="icon" href="data:,"><meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body><main>"
    )


def _facts(summary: JsonObject) -> str:
    ours = summary["moongate"]
    day = (summary["eval_finished_at"] or "")[:16].replace("T", " ")
    facts = [
        f"{ours['samples']} samples",
        f"{ours['requests']} requests",
        spent(ours),
        f"{day} UTC" if day else "",
    ]
    return escape(" · ".join(filter(None, facts)))


def _measured(ours: JsonObject) -> list[tuple[str, JsonObject, JsonObject]]:
    found = [(name, *(ours[side]["rates"][name] for side in _SIDES)) for name in RATES]
    return [(name, raw, left) for name, raw, left in found if raw["of"] or left["of"]]


def _rates(ours: JsonObject) -> str:
    rows = "".join(
        f'<tr><th scope="row">{name}<small>{escape(MEANINGS[name])}</small></th>'
        f"<td>{_share(raw)}</td><td>{_share(left)}</td></tr>"
        for name, raw, left in _measured(ours)
    )
    legend = "".join(f'<li><span class="{side}"></span>{side}</li>' for side in _SIDES)
    head = "<tr><th></th><th>raw</th><th>repaired</th></tr>"
    return (
        "<section><h2>Rates</h2><p>Raw: as the answers came. Repaired: as they leave moongate. In brackets the "
        f'95\u00a0% interval.</p><ul class="legend">{legend}</ul>'
        f"{interval_chart(_measured(ours))}<table><thead>{head}</thead><tbody>{rows}</tbody></table></section>"
    )


def _share(rate: JsonObject) -> str:
    """A rate with its interval, which is not broken into two lines."""
    value, bracket, interval = escape(percent(rate)).partition("(")
    return f"{value}<span>{bracket}{interval}</span>" if bracket else value


def _worths(ours: JsonObject) -> str:
    worths = ours["repaired"]["worths"]
    counts = "".join(
        f'<li><span class="worth-{worth}"></span>{worth}: {worths[worth]}</li>' for worth in WORTHS if worths.get(worth)
    )
    if not counts:
        return ""
    return f"<section><h2>What answers were worth</h2>{worth_chart(worths)}<ul class='legend'>{counts}</ul></section>"


def _faults(ours: JsonObject) -> str:
    names = {**ours["raw"]["faults"], **ours["repaired"]["faults"]}
    faults = {name: (_hits(ours["raw"], name), _hits(ours["repaired"], name)) for name in names}
    return f"<section><h2>Faults</h2>{fault_chart(faults) if faults else '<p>None were seen.</p>'}</section>"


def _hits(side: JsonObject, fault: str) -> int:
    return int(side["faults"].get(fault, {"hits": 0})["hits"])


def _details(ours: JsonObject) -> str:
    lists = (
        ("Streams", ours["raw"]["stream_faults"]),
        ("Ids of calls", ours["raw"]["id_shapes"]),
        ("Repairs by kind", ours["repairs"]),
        ("Rules learned from refusals", dict.fromkeys(ours["learned"], "")),
    )
    parts = []
    for label, counts in lists:
        items = "".join(f"<li><code>{escape(name)}</code> {count}".rstrip() + "</li>" for name, count in counts.items())
        parts.append(f"<div><h3>{label}</h3><ul>{items or '<li>none</li>'}</ul></div>")
    mended = ours["mended_by_design"]
    note = f"<p>{mended} contract rows were refused by the vendor and repaired by design.</p>" if mended else ""
    return f"<section><h2>Details</h2><div class='lists'>{''.join(parts)}</div>{note}</section>"


def _examples(worst: list[JsonObject]) -> str:
    if not worst:
        return "<section><h2>Worst examples</h2><p>There are none.</p></section>"
    parts = []
    for example in worst:
        mark = "repaired" if example["mended"] else "not repaired"
        parts.append(
            f"<article><h3>{escape(example['fault'].replace('_', ' '))} "
            f"<small>{escape(example['suite'])} · {escape(example['case'])} · {mark}</small></h3>"
            f"<dl><dt>asked</dt><dd>{escape(example['asked'])}</dd>"
            f"<dt>came</dt><dd><code>{escape(example['came'])}</code></dd>"
            f"<dt>left</dt><dd><code>{escape(example['left'])}</code></dd>"
            f"<dt>why</dt><dd>{escape(example['why'])}</dd></dl></article>"
        )
    return f"<section><h2>Worst examples: came · left · why</h2>{''.join(parts)}</section>"


def _method(ours: JsonObject) -> str:
    suites = ", ".join(f"{name} {count}" for name, count in ours["suites"].items())
    return (
        f"<footer><p>Suites: {escape(suites)}. One upstream answer is judged twice. The suite multiturn sends two "
        "requests, with the history as the client has it and as moongate repairs it; so does every case whose own "
        "request the vendor refuses where moongate has another form of it. The suite stream asks once streamed and "
        "once whole. schema is schema_accuracy, f1 is tool_call_f1 of K2-Vendor-Verifier; intervals are Wilson's.</p>"
        "<p>Made by <code>moongate verify</code>.</p></footer>"
    )
