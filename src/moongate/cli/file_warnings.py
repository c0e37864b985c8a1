"""Warnings about files of the configuration that other users of the machine can read or change."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from moongate.gateway.config.load import Config


def file_warnings(config: Config) -> Iterator[str]:
    """One line for each file with secrets that others can read, and for each with code that others can write."""
    file = config.file
    if file is None:
        return
    given = list(_secrets(config))
    if any(not each.startswith(("$", "file:")) for each in given) and _mode(file) & stat.S_IROTH:
        yield f"{file}: it holds keys, and every user of this machine can read it: chmod o= {file}"
    folder = file.resolve().parent
    for name in dict.fromkeys(each.removeprefix("file:") for each in given if each.startswith("file:")):
        path = folder / Path(name).expanduser()
        if _mode(path) & stat.S_IROTH:
            yield f"{path}: every user of this machine can read this key: chmod o= {path}"
    for path in _code(config, folder):
        if _others_write(path) or _others_write(path.parent):
            yield f"{path}: other users of this machine can change this code, which the gateway runs"
    if _others_write(file):
        yield f"{file}: other users of this machine can change the configuration"


def _secrets(config: Config) -> Iterator[str]:
    """Each key as the configuration writes it."""
    settings = config.settings
    for provider in settings.providers:
        yield from (key.key for key in provider.api_key)
    if config.client_keys is not None:  # else `"none"`
        yield from (key.key for key in settings.api_keys)
    if settings.admin is not None and settings.admin.at is not None:  # its key is resolved, or made at the start
        written = settings.admin.at.document.value["admin"].get("key")
        if written:
            yield written


def _code(config: Config, folder: Path) -> Iterator[Path]:
    for each in config.settings.transformers:
        place = each.path.partition(":")[0]
        if place.endswith(".py"):
            yield folder / Path(place).expanduser()


def _others_write(path: Path) -> bool:
    """Can somebody else than its owner write it, or is the owner neither we nor root? A sticky folder is safe."""
    if not hasattr(os, "getuid"):  # Windows has other rights
        return False
    try:
        found = path.stat()
    except OSError:
        return False
    sticky_folder = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
    return bool(found.st_mode & stat.S_IWOTH and not sticky_folder) or found.st_uid not in (0, os.getuid())


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError:
        return 0
