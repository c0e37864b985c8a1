"""The place of a schema inside another one, written out only when it is read."""

from __future__ import annotations

Path = tuple["Path", str] | None  # the path before, and the last part; None: the root


def written(path: Path, last: str = "") -> str:
    """The path in Moonshot's words: `properties.a.items`, `root` for the root."""
    parts = [last] if last else []
    while path is not None:
        path, part = path
        parts.append(part)
    return ".".join(reversed(parts)) or "root"
