"""Finish reasons (section 6)."""

from __future__ import annotations

from typing import Final

_CUT_SHORT: Final = frozenset({"length", "content_filter"})  # a call that was cut must not be run


def judged(reason: str | None, *, calls: bool, cut: bool, enforced: bool) -> str | None:
    """The finish reason of a choice that said `reason` and has calls or none.

    `cut`: the answer ended inside the arguments of a call that was read from markers (section 5.5).
    """
    if cut:
        return reason if reason in _CUT_SHORT else "length"
    if not enforced or reason in _CUT_SHORT:
        return reason
    if calls:
        return "tool_calls"
    return "stop" if not reason or reason == "tool_calls" else reason
