"""The last report of `moongate verify` for each target, in the gateway's own folder: the page of vendors shows it."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Final

from moongate.payload import JsonObject, dumps, object_of

FOLDER: Final = "verify"
MAX_REPORTS: Final = 200  # that are read
MAX_BYTES: Final = 256 * 1024  # of one of them
LEFT_OUT: Final = frozenset({"worst"})  # whole answers: they are in the report itself


def remember_report(home: Path, summary: JsonObject, place: Path) -> None:
    """Keep the summary of a run, whose files are in `place`. Raises OSError."""
    about = {name: value for name, value in summary["moongate"].items() if name not in LEFT_OUT}
    kept = {"finished": summary.get("eval_finished_at"), "place": str(place.absolute()), **about}
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = sha256(str(about["target"]).encode("utf-8", "replace")).hexdigest()[:32]
    fresh = folder / f"{name}.{os.getpid()}.new"
    fresh.write_bytes(dumps(kept))
    fresh.replace(folder / f"{name}.json")


def last_reports(home: Path | None) -> dict[str, JsonObject]:
    """By target. A file that cannot be read, or is none of ours, is left out."""
    found: dict[str, JsonObject] = {}
    for path in sorted((home / FOLDER).glob("*.json"))[:MAX_REPORTS] if home is not None else ():
        try:
            with path.open("rb") as file:
                report = object_of(file.read(MAX_BYTES))
        except OSError:
            continue
        if report is not None and isinstance(report.get("target"), str):
            found[report["target"]] = report
    return found
