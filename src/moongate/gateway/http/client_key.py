"""Keys that are created at first start (for clients, for operators), each in a file that only its owner can read."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from moongate.errors import ConfigError

FILE: Final = "client-key"
ADMIN_FILE: Final = "admin-key"


def home(environment: Mapping[str, str] = os.environ) -> Path:
    """The gateway's own folder: `$MOONGATE_HOME`, else `moongate` in the user's configuration folder."""
    if environment.get("MOONGATE_HOME"):
        return Path(environment["MOONGATE_HOME"])
    if environment.get("XDG_CONFIG_HOME"):
        return Path(environment["XDG_CONFIG_HOME"]) / "moongate"
    return Path.home() / ".config" / "moongate"


def own_key(folder: Path, name: str = FILE) -> tuple[str, bool]:
    """The key, and whether it was created just now. Raises ConfigError if it can be neither read nor written."""
    path = folder / name
    try:
        key = _read(path)
        if key:
            return key, False
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        made = _create(path, f"mg-{secrets.token_urlsafe(32)}")
        return _read(path) or made, True
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        kind, setting = ("admin", "admin.key") if name == ADMIN_FILE else ("client", "api_keys")
        hint = f"set '{setting}', or MOONGATE_HOME to a folder that can be written"
        raise ConfigError(f"no {kind} key can be kept at {path} ({reason}): {hint}") from None


def _read(path: Path) -> str:
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(encoding="ascii").strip()
    return ""


def _create(path: Path, key: str) -> str:
    """Create the file atomically; if another process was faster, its file is kept."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key + "\n")
            file.flush()
            os.fsync(file.fileno())
        if path.exists() and not _read(path):
            path.unlink()  # an empty file holds no key
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        os.unlink(temporary)
    return key
