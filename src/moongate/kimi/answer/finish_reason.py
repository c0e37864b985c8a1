"""Finish reasons (section 6)."""

from __future__ import annotations

from typing import Final

_TRUNCATED: Final = frozenset({"length", "content_filter"})  # a truncated call must not be run


def final_finish_reason(reason: str | None, *, calls: bool, truncated: bool, enforced: bool) -> str | None:
    """The finish reason of a choice that came with `reason`. `calls`: it has calls.

    `truncated`: the answer ended inside the arguments of a call that was parsed from markers (section 5.5).
    """
    if truncated:
        return reason if reason in _TRUNCATED else "length"
    if not enforced or reason in _TRUNCATED:
        return reason
    if calls:
        return "tool_calls"
    return "stop" if not reason or reason == "tool_calls" else reason
