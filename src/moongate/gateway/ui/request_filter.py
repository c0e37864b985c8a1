"""Which of the last requests a page shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from moongate.payload import JsonObject

# Parameters of the page and the fields of a line that must equal them.
FIELDS: Final = {"key": "client", "provider": "provider", "front": "front", "worth": "worth"}
SPANS: Final = {"1m": 1, "15m": 15, "1h": 60, "6h": 360, "24h": 1440}  # minutes
STATUSES: Final = {"ok": range(200, 400), "4xx": range(400, 500), "5xx": range(500, 600)}
NAMES: Final = ("span", "key", "model", "provider", "front", "status", "worth", "repair", "id")


def request_filter(query: Mapping[str, str], now: datetime | None = None) -> Callable[[JsonObject], bool]:
    """Unknown values of known parameters match nothing."""
    wanted = [(field, query[name]) for name, field in FIELDS.items() if query.get(name)]
    model, repair, status, part = (query.get(name, "") for name in ("model", "repair", "status", "id"))
    span = SPANS.get(query.get("span", ""))
    begin = None if span is None else now or datetime.now(UTC)
    oldest = "" if begin is None or span is None else f"{begin - timedelta(minutes=span):%Y-%m-%dT%H:%M:%S}"

    def matches(line: JsonObject) -> bool:
        if str(line.get("time", "")) < oldest or part not in str(line.get("id", "")):
            return False
        if any(line.get(field) != value for field, value in wanted):
            return False
        if model and model not in (line.get("asked"), line.get("model")):
            return False
        if status and not has_status(line.get("status"), status):
            return False
        return not repair or repair in (line.get("notes") or {}) or (repair == "any" and bool(line.get("notes")))

    return matches


def has_status(found: object, wanted: str) -> bool:
    if wanted in STATUSES:
        return found in STATUSES[wanted]
    return str(found) == wanted


def choices(lines: Iterable[JsonObject]) -> dict[str, list[str]]:
    """The values that occur, by parameter: what a filter may choose from."""
    found: dict[str, set[str]] = {name: set() for name in ("key", "model", "provider", "front", "worth", "repair")}
    for line in lines:
        for name, field in FIELDS.items():
            found[name].add(str(line.get(field) or ""))
        found["model"].update((str(line.get("asked") or ""), str(line.get("model") or "")))
        found["repair"].update(line.get("notes") or {})
    return {name: sorted(values - {""}) for name, values in found.items()}
