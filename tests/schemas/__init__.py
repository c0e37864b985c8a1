"""Schemas of real tools, as published packages give them; each file names its package, version and licence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FILES = sorted(Path(__file__).parent.glob("*.json"))


def real_tools() -> list[dict[str, Any]]:
    """All of them as OpenAI tool objects, new ones each time; names repeat between packages."""
    return [
        {"type": "function", "function": tool}
        for path in FILES
        for tool in json.loads(path.read_text(encoding="utf-8"))["tools"]
    ]
