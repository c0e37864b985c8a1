"""An agent's own settings file: moongate's values are merged into it, and taken out again.

The content from before the first merge is kept beside it. Taking out restores each value that was there before, and
keeps what was changed since; where nothing was changed since, the file is byte for byte what it was.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import tomlkit
import tomlkit.exceptions

from moongate.cli.agent_settings import AgentSettings
from moongate.cli.agents import KEY_VARIABLE
from moongate.cli.init import write_private
from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import parse
from moongate.gateway.config.schema import indented
from moongate.payload import JsonObject

OWN_NAME: Final = "moongate"  # what is under this name is moongate's as a whole
Document = MutableMapping[str, Any]  # JSON, or a TOML document with its comments


@dataclass(frozen=True, slots=True)
class SettingsFormat:
    """How a settings file is read and written. `load` raises ConfigError."""

    load: Callable[[str, Path], Document]
    dump: Callable[[Document], str]


def format_of(path: Path) -> SettingsFormat:
    """By the name of the file. JSON is YAML, too."""
    return _FORMATS.get(path.suffix, _JSON)


def write_settings(settings: AgentSettings, path: Path) -> tuple[bool, Path | None]:
    """Merge the settings into the file. Returns whether it changed, and where the content from before it is."""
    assert settings.values is not None
    old = _text_of(path)
    style = format_of(path)
    document = style.load(old, path)
    merge(document, settings.values)
    text = style.dump(document)
    backup = backup_of(path)
    changed = plain(document) != plain(style.load(old, path))
    _create_folder(path)
    if changed:
        # What was there before the first time, not before the last; empty if there was nothing.
        if not backup.exists():
            write_private(backup, old)
        write_private(path, text)
    for name, value in settings.beside:
        changed |= _write_own(path.with_name(name), indented(value) + "\n")
    return changed, backup if _text_of(backup) else None


def undo_settings(settings: AgentSettings, path: Path) -> bool:
    """Take the settings out of the file. Returns whether anything changed."""
    assert settings.values is not None
    changed = False
    for name, _ in settings.beside:
        with contextlib.suppress(FileNotFoundError):
            path.with_name(name).unlink()
            changed = True
    old = _text_of(path)
    style = format_of(path)
    backup = backup_of(path)
    before_text = _text_of(backup)
    before = style.load(before_text, backup)
    document = style.load(old, path)
    remove(document, settings.values, before)
    text = before_text if plain(document) == plain(before) else style.dump(document)
    if text == old:
        return changed
    if text:
        write_private(path, text)
    else:
        path.unlink()
    backup.unlink(missing_ok=True)
    return True


def backup_of(path: Path) -> Path:
    return path.with_name(path.name + ".before-moongate")


def merge(old: Document, new: JsonObject) -> None:
    """Change `old` to hold `new`: objects are merged, lists of models get one more, anything else is replaced."""
    for key, value in new.items():
        found = old.get(key)
        if isinstance(value, dict) and isinstance(found, MutableMapping) and key != OWN_NAME:
            merge(found, value)
        elif isinstance(value, list) and isinstance(found, list):
            old[key] = [each for each in found if not _is_own(each)] + value
        elif found != value:  # an equal value keeps its place and its comment
            old[key] = value


def remove(document: Document, values: JsonObject, before: Document) -> None:
    """Take the values out of the document again, and put back what was there `before`."""
    for key, value in values.items():
        if key not in document:
            continue
        found, earlier = document[key], before.get(key)
        if isinstance(value, dict) and isinstance(found, MutableMapping) and key != OWN_NAME:
            remove(found, value, earlier if isinstance(earlier, MutableMapping) else {})
            if not found and key not in before:
                del document[key]
        elif isinstance(value, list) and isinstance(found, list) and [each for each in found if not _is_own(each)]:
            document[key] = [each for each in found if not _is_own(each)]
        elif key in before:
            document[key] = earlier
        else:
            del document[key]


def plain(document: Document) -> object:
    """The values alone, for comparison."""
    return document.unwrap() if isinstance(document, tomlkit.TOMLDocument) else document


def _is_own(entry: object) -> bool:
    """Is it an entry of a list that moongate wrote? (The models of Qwen Code and of Continue.)"""
    return isinstance(entry, dict) and (entry.get("envKey") == KEY_VARIABLE or entry.get("name") == OWN_NAME)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError(f"cannot be changed: {reason}", path=str(path)) from None


def _create_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot be changed: {error.strerror}", path=str(path)) from None


def _write_own(path: Path, text: str) -> bool:
    if _text_of(path) == text:
        return False
    write_private(path, text)
    return True


def _load_json(text: str, path: Path) -> Document:
    value = parse(text, str(path)).value if text.strip() else {}
    if not isinstance(value, dict):
        raise ConfigError("cannot be changed: it is not a JSON object", path=str(path))
    return value


def _dump_json(document: Document) -> str:
    return indented(document) + "\n" if document else ""


def _load_toml(text: str, path: Path) -> Document:
    try:
        return tomlkit.parse(text)
    except tomlkit.exceptions.ParseError as error:  # its message may quote the line, and with it a key
        raise ConfigError("cannot be changed: it is not valid TOML", path=f"{path}:{error.line}") from None


def _dump_toml(document: Document) -> str:
    text = tomlkit.dumps(document)
    return text if text.strip() else ""


def _load_exports(text: str, path: Path) -> Document:
    """Lines for a shell: `export NAME=VALUE`."""
    try:
        words = [shlex.split(line, comments=True) for line in text.split("\n")]
        return dict(value.split("=", 1) for _export, value in filter(None, words))
    except ValueError:
        raise ConfigError("cannot be changed: it has other lines than export NAME=VALUE", path=str(path)) from None


def _dump_exports(document: Document) -> str:
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in document.items())


_JSON: Final = SettingsFormat(_load_json, _dump_json)
_FORMATS: Final = {
    ".toml": SettingsFormat(_load_toml, _dump_toml),
    ".env": SettingsFormat(_load_exports, _dump_exports),
}
