"""What `moongate replay` reads: the body of an answer, or a test case that also holds its request, model and chain."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

from moongate.errors import ConfigError
from moongate.payload import JsonObject, object_of

CASE_KEY = "moongate_case"
DEFAULT_MODEL = "kimi-k2"


def default_request() -> JsonObject:
    return {"messages": [{"role": "user", "content": "(replayed)"}]}


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    data: bytes
    request: JsonObject = field(default_factory=default_request)
    model: str = DEFAULT_MODEL
    content_type: str = ""
    use: object = "Kimi"
    base_url: str = ""


def read_recorded(path: Path) -> RecordedAnswer:
    """What is in the file, or in standard input for `-`. Raises ConfigError."""
    data = sys.stdin.buffer.read() if str(path) == "-" else read_bytes(path)
    case = _test_case(data)
    if case is None:
        return RecordedAnswer(data)
    request = case.get("request", default_request())
    if not isinstance(request, dict):
        raise ConfigError("is not a JSON object", path=f"{path}: request")
    return RecordedAnswer(
        str(case.get("answer", "")).encode("utf-8", "surrogatepass"),
        request,
        str(case.get("model", DEFAULT_MODEL)),
        str(case.get("content_type", "")),
        case.get("use", "Kimi"),
        str(case.get("base_url", "")),
    )


def files_below(path: Path) -> list[Path]:
    """The file itself, or those of a folder and the folders in it. Hidden ones are left out."""
    if str(path) == "-" or not path.is_dir():
        return [path]
    found = [each for each in sorted(path.rglob("*")) if each.is_file()]
    found = [each for each in found if not any(part.startswith(".") for part in each.relative_to(path).parts)]
    if not found:
        raise ConfigError("there is no file in this folder", path=str(path))
    return found


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises ConfigError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(path)) from error


def _test_case(data: bytes) -> JsonObject | None:
    found = object_of(data) if data.lstrip()[:1] == b"{" and CASE_KEY.encode() in data[:200] else None
    return found if found is not None and found.get(CASE_KEY) == 1 else None
