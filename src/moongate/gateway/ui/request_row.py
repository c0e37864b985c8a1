"""What a row of the list of requests shows: the same words on the page and in its updates."""

from __future__ import annotations

import re
from typing import Final

from moongate.gateway.ui.layout import count, dollars, milliseconds
from moongate.gateway.ui.markup import visible
from moongate.payload import JsonObject

_PROVIDER: Final = re.compile(r"\Aprovider '[^']*' \([^)]*\):? ")  # how an error begins; the row shows the target


def row_cells(line: JsonObject) -> dict[str, str]:
    """What a row shows, by column; the same words on the page and in its updates."""
    read, written = line.get("input_tokens"), line.get("output_tokens")
    notes: dict[str, int] = line.get("notes") or {}
    cells = {
        "time": str(line.get("time", ""))[5:23].replace("T", " "),
        "status": str(line.get("status", "")),
        "who": str(line.get("client") or "–"),
        "model": str(line.get("asked") or ""),
        "target": _target(line),
        "worth": str(line.get("worth") or ""),
        "problem": ", ".join(filter(None, [_PROVIDER.sub("", line.get("error") or ""), *(line.get("damage") or [])])),
        "repairs": ", ".join(f"{kind} ×{number}" if number > 1 else kind for kind, number in notes.items()),
        "first": milliseconds(line.get("first_byte_ms")),
        "duration": milliseconds(line.get("duration_ms")),
        "tokens": f"{count(read)} + {count(written)}" if read is not None or written is not None else "–",
        "cost": dollars(line.get("cost_usd")),
        "id": str(line.get("id", "")),
    }
    return {name: visible(text[:200]) for name, text in cells.items()}


def _target(line: JsonObject) -> str:
    """Nothing if the client has named the target itself; the provider alone if it has named the model as that does."""
    asked, provider, model = line.get("asked"), line.get("provider"), line.get("model")
    if not provider or asked == f"{provider},{model}":
        return ""
    return f"→ {provider}" if asked == model else f"→ {provider},{model}"


def row_classes(line: JsonObject) -> str:
    status = line.get("status")
    kind = "bad" if isinstance(status, int) and status >= 500 else "warn" if status != 200 else "good"
    return f"{kind} worth-{line.get('worth')}" if line.get("worth") else kind
