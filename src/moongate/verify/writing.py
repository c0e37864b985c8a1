"""The files of a run beside its results: summary.json, report.html, junit.xml."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from moongate.errors import ConfigError
from moongate.gateway.config.schema import indented
from moongate.payload import JsonObject, object_of
from moongate.verify.html_report import html_report
from moongate.verify.junit_report import junit_document
from moongate.verify.results_file import SUMMARY, ResultsFile, write_file, writing

HTML: Final = "report.html"
JUNIT: Final = "junit.xml"


def write_reports(folder: Path, summary: JsonObject, failed: Sequence[str]) -> None:
    """`failed`: the thresholds that were not reached."""
    write_file(folder / SUMMARY, f"{indented(summary)}\n".encode())
    write_file(folder / HTML, html_report(summary).encode("utf-8", "replace"))
    pieces = junit_document(summary["moongate"]["target"], ResultsFile(folder).rows, failed)
    with writing(folder / JUNIT), (folder / JUNIT).open("w", encoding="utf-8", errors="replace") as file:
        file.writelines(pieces)


def read_summary(path: Path) -> JsonObject:
    """The summary of a run. Raises ConfigError for anything else."""
    path = path.parent if path.parent.is_file() else path
    try:
        found = object_of(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(path)) from None
    if found is None or not isinstance(found.get("moongate"), dict):
        raise ConfigError("is not a summary of moongate verify", path=str(path))
    return found
