"""What tests of the pages share: how Chromium is started, and a report that a page shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page

TIMEOUT = 60_000.0
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
OpenPage = Callable[..., Page]
_RATE = {"value": 0.98, "interval": [0.93, 0.995]}


def verify_report(target: str) -> dict[str, Any]:
    """Of a run of `moongate verify`."""
    return {
        "eval_finished_at": "2026-11-18T10:00:00+00:00",
        "moongate": {
            "target": target, "samples": 100, "cost_micros": 41_000, "end": "",
            "raw": {"rates": {"success": _RATE, "schema": {"value": 0.81, "interval": [0.72, 0.875]}, "f1": _RATE}},
            "repaired": {"rates": {"success": _RATE, "schema": _RATE, "f1": _RATE}},
        },
    }  # fmt: skip
