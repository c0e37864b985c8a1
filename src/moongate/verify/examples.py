"""The worst samples of a run: what came, what left, why. Pure; at most ten are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from moongate.payload import JsonObject, dumps_text
from moongate.verify.observation import FAULTS

KEPT: Final = 10
EACH: Final = 3  # of one fault, as long as there are others
MAX_TEXT: Final = 600
_RANKS: Final[Mapping[str, int]] = {fault: rank for rank, fault in enumerate(FAULTS)}


class WorstExamples:
    """Keeps, of each kind of fault, the first ten by their place in the plan."""

    def __init__(self) -> None:
        self._kept: dict[str, list[tuple[int, JsonObject]]] = {}

    def add(self, row: JsonObject) -> None:
        ours = row["moongate"]
        raw = ours["raw"]
        faults = raw["faults"] if ours["suite"] != "contract" else []  # a refusal may be what the contract says
        if raw["passed"] and not faults:
            return
        fault = faults[0] if faults else ours["suite"]
        kept = self._kept.setdefault(fault, [])
        if len(kept) == KEPT and kept[-1][0] <= row["data_index"]:
            return
        kept.append((row["data_index"], _example(row, fault)))
        kept.sort(key=lambda each: each[0])
        del kept[KEPT:]

    def as_json(self) -> list[JsonObject]:
        """From the worst kind of fault on; further ones of a kind only where other kinds do not fill the ten."""
        found = [
            (place >= EACH, _RANKS.get(fault, len(FAULTS)), index, example)
            for fault, kept in self._kept.items()
            for place, (index, example) in enumerate(kept)
        ]
        found.sort(key=lambda each: each[:3])
        shown = sorted(found[:KEPT], key=lambda each: each[1:3])
        return [example for *_, example in shown]


def _example(row: JsonObject, fault: str) -> JsonObject:
    ours: Mapping[str, Any] = row["moongate"]
    choices = row["response"].get("choices")
    came = choices[0] if isinstance(choices, list) and choices else row["response"]
    raw = ours["raw"]
    why = [*dict.fromkeys([*raw["why"], *raw["faults"]]), *raw["details"]]
    left = ours["left"]
    repaired = ours["repaired"]
    same = "the same" if repaired["status"] == 200 else f"status {repaired['status']}"
    return {
        "suite": ours["suite"],
        "case": ours["case"],
        "run": ours["run"],
        "fault": fault,
        "asked": _asked(row["request"]),
        "came": _short(came),
        "left": same if left is None else _short(left),
        "why": _cut(", ".join(why)),
        "repairs": ours["repairs"],
        "mended": bool(repaired["passed"]),
    }


def _asked(request: JsonObject) -> str:
    messages = request.get("messages")
    last = messages[-1] if isinstance(messages, list) and messages else {}
    content = last.get("content") if isinstance(last, dict) else ""
    return _cut(content) if isinstance(content, str) else _short(content)


def _short(value: object) -> str:
    return _cut(dumps_text(value))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"
