"""What `moongate replay` says of several recorded answers: a line for each, and their sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from moongate.cli.report import SEEN, ReplayTotals
from moongate.payload import JsonObject


@dataclass(frozen=True, slots=True)
class FileReplay:
    """One recorded answer. `outcome`: complete, incomplete, no answer at all, or the error that it is."""

    file: str
    outcome: str
    totals: ReplayTotals


def sums(replays: Sequence[FileReplay]) -> JsonObject:
    """All files and their sums, for programs."""
    kinds = Counter[str]()
    for replay in replays:
        kinds.update(replay.totals.kinds)
    return {
        "files": [_file(replay) for replay in replays],
        "total": {
            "answers": len(replays),
            "outcomes": dict(sorted(Counter(replay.outcome for replay in replays).items())),
            "calls": sum(replay.totals.calls for replay in replays),
            "repairs": dict(sorted(kinds.items())),
        },
    }


def print_replays(replays: Sequence[FileReplay]) -> None:
    width = max(len(replay.file) for replay in replays)
    for replay in replays:
        print(f"{replay.file:<{width}}  {replay.totals.summary(replay.outcome)}")
    total = sums(replays)["total"]
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in total["outcomes"].items())
    repairs = sum(count for kind, count in total["repairs"].items() if kind != SEEN)
    kinds = ", ".join(f"{kind} × {count}" for kind, count in total["repairs"].items())
    repaired = f"{repairs} repairs{': ' if kinds else ''}{kinds}"
    print(f"{total['answers']} answers: {outcomes}; {total['calls']} calls; {repaired}")


def _file(replay: FileReplay) -> JsonObject:
    totals = replay.totals
    return {
        "file": replay.file,
        "outcome": replay.outcome,
        "events_in": totals.received,
        "events_out": totals.sent,
        "calls": totals.calls,
        "finish_reasons": totals.finish_reasons,
        "repairs": dict(totals.kinds),
    }
