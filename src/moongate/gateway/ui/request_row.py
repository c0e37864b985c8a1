"""What a row of the list of requests shows: the same words on the page and in its updates."""

from __future__ import annotations

from moongate.gateway.ui.layout import count, dollars, milliseconds
from moongate.gateway.ui.markup import visible
from moongate.payload import JsonObject


def row_cells(line: JsonObject) -> dict[str, str]:
    """What a row shows, by column; the same words on the page and in its updates."""
    target = f"{line.get('provider')},{line.get('model')}" if line.get("provider") else ""
    asked = str(line.get("asked") or "")
    read, written = line.get("input_tokens"), line.get("output_tokens")
    notes: dict[str, int] = line.get("notes") or {}
    cells = {
        "time": str(line.get("time", ""))[11:23],
        "status": str(line.get("status", "")),
        "who": str(line.get("client") or "–"),
        "model": asked if target in ("", asked) else f"{asked} → {_short_target(asked, line)}",
        "worth": " ".join([str(line.get("worth") or ""), *(line.get("damage") or [])]),
        "repairs": ", ".join(f"{kind} ×{number}" if number > 1 else kind for kind, number in notes.items()),
        "first": milliseconds(line.get("first_byte_ms")),
        "duration": milliseconds(line.get("duration_ms")),
        "tokens": f"{count(read)} + {count(written)}" if read is not None or written is not None else "–",
        "cost": dollars(line.get("cost_usd")),
        "id": str(line.get("id", "")),
    }
    return {name: visible(text[:200]) for name, text in cells.items()}


def _short_target(asked: str, line: JsonObject) -> str:
    """The provider alone, if the client has named the model as the provider does."""
    return str(line["provider"]) if asked == line.get("model") else f"{line['provider']},{line['model']}"


def row_classes(line: JsonObject) -> str:
    status = line.get("status")
    kind = "bad" if isinstance(status, int) and status >= 500 else "warn" if status != 200 else "good"
    return f"{kind} worth-{line.get('worth')}" if line.get("worth") else kind
