"""Texts in the format that `response_format` asks for: JSON on one line."""

from __future__ import annotations

import re
from typing import Final

from moongate.payload import JsonObject, dumps_text
from moongate.sim.arguments import instance_of

MAX_KEYS: Final = 20
_QUOTED: Final = re.compile(r"""['"`‘“「]([A-Za-z_][A-Za-z0-9_-]{0,63})['"`’”」]""")


def formatted(text: str, response_format: object, prompt: str, n: int) -> str:
    """The text, or JSON if that is asked for. A `json_object` has the keys that the prompt names in quotes."""
    wanted = response_format if isinstance(response_format, dict) else {}
    if wanted.get("type") == "json_object":
        keys = list(dict.fromkeys(_QUOTED.findall(prompt)))[:MAX_KEYS] or ["answer"]
        answer: JsonObject = {key: text if key == "answer" else f"{key} {n}" for key in keys}
        return dumps_text(answer)
    if wanted.get("type") == "json_schema":
        inner = wanted.get("json_schema")
        return dumps_text(instance_of(inner.get("schema") if isinstance(inner, dict) else None, n))
    return text
