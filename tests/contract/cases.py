"""The rows of cases.jsonl."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent
JsonObject = dict[str, Any]
STREAMS: Final = {"both": (False, True), "nostream": (False,), "stream": (True,)}


@dataclass(frozen=True, slots=True)
class ContractCase:
    """One row. See README.md for what the fields mean."""

    id: str
    area: str
    stream: str
    client: str
    request: JsonObject
    expect: JsonObject
    note: str
    weights: bool
    skipped: str = ""
    mended: bool = False
    chunks: tuple[JsonObject, ...] = ()
    schema: JsonObject | None = None
    selection_reason: str | None = None

    @property
    def streams(self) -> tuple[bool, ...]:
        return STREAMS[self.stream]

    def body(self, *, stream: bool) -> JsonObject:
        """The request as the suite sends it."""
        if not stream:
            return self.request
        options = {} if "stream" in self.request else {"stream_options": {"include_usage": True}}
        return {**self.request, "stream": True, **options}


def read_cases() -> list[ContractCase]:
    lines = (FOLDER / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [ContractCase(**{**row, "chunks": tuple(row.get("chunks", ()))}) for row in map(json.loads, lines)]


CASES: Final = read_cases()
BY_ID: Final = {case.id: case for case in CASES}
# The rows that are requests with an expected answer.
ASKED: Final = [case for case in CASES if case.area not in ("harness", "schema_wrap")]


@dataclass(slots=True)
class Assembled:
    """An answer as the suite's readers see it."""

    status: int = 200
    content: str | None = None
    reasoning: str | None = None
    reasoning_key: bool = False  # the field is there, even if it is null
    calls: list[JsonObject] = field(default_factory=list)  # id, name, arguments
    finish: str | None = None
    usage: JsonObject | None = None
    error: str = ""
