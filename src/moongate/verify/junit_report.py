"""The rates and thresholds of a run as JUnit XML, for CI. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from moongate.payload import JsonObject

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_head(target: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={_attribute(f"moongate verify {target}")}>\n'


def junit_case(row: JsonObject) -> str:
    """One sample. It fails if the answer as it came is not as it should be; what the chain makes of it is beside."""
    ours = row["moongate"]
    name = ours["case"] + (f" (run {ours['run']})" if ours["run"] > 1 else "")
    seconds = row["duration_ms"] / 1000
    head = f'  <testcase classname={_attribute(ours["suite"])} name={_attribute(name)} time="{seconds:.3f}"'
    raw, repaired = ours["raw"], ours["repaired"]
    if raw["passed"]:
        return f"{head}/>\n"
    after = "mended by design" if ours["mended"] else "mended" if repaired["passed"] else ", ".join(repaired["why"])
    kind = _outcome(row)
    why = _attribute(", ".join(raw["why"]))
    return f"{head}><{kind} message={why}>{escape(_clean(f'repaired: {after}'))}</{kind}></testcase>\n"


def junit_document(target: str, rows: Callable[[], Iterable[JsonObject]], failed: Sequence[str]) -> Iterable[str]:
    """The document in pieces: a suite with all samples, one with the thresholds that were not reached. The rows are
    read twice, because the counts come first."""
    counts = Counter(_outcome(row) for row in rows())
    yield junit_head(target)
    numbers = f'tests="{counts.total()}" failures="{counts["failure"]}" errors="{counts["error"]}"'
    yield f'<testsuite name="samples" {numbers}>\n'
    for row in rows():
        yield junit_case(row)
    yield "</testsuite>\n"
    if failed:
        yield f'<testsuite name="thresholds" tests="{len(failed)}" failures="{len(failed)}" errors="0">\n'
        for line in failed:
            yield f"  <testcase name={_attribute(line)}><failure message={_attribute(line)}/></testcase>\n"
        yield "</testsuite>\n"
    yield "</testsuites>\n"


def _outcome(row: JsonObject) -> str:
    raw = row["moongate"]["raw"]
    return "passed" if raw["passed"] else "error" if raw["status"] == 0 else "failure"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Without the characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
