"""Reads JSON5, in which files of claude-code-router are written: made JSON with comments first, then parsed as that."""

from __future__ import annotations

import re
from typing import Any, Final

from moongate.gateway.config.jsonc import parse
from moongate.payload import dumps_text

# Comments and texts in double quotes stay as they are.
# Linear: a name is only looked for where one begins, and a comment without an end goes on to the end of the file.
_TOKEN: Final = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:[^"\\]|\\.)*"|'(?P<text>(?:[^'\\]|\\.)*)'"""
    r"|(?<![\w$])(?P<name>[A-Za-z_$][\w$]*)(?=\s*:)|(?<![\w.])\+?(?P<number>\.\d+)",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(.)|\"", re.DOTALL)


def parse_json5(text: str, file: str) -> Any:
    """Names without quotes, texts in single quotes, numbers that begin with a dot. Raises ConfigError."""
    return parse(_TOKEN.sub(_as_json, text), file).value


def _as_json(found: re.Match[str]) -> str:
    if found["text"] is not None:
        return f'"{_ESCAPE.sub(_escape_as_json, found["text"])}"'
    if found["name"] is not None:
        return dumps_text(found["name"])
    return found[0] if found["number"] is None else f"0{found['number']}"


def _escape_as_json(found: re.Match[str]) -> str:
    if found[1] is None:
        return '\\"'
    return {"'": "'", "\n": ""}.get(found[1], found[0])
