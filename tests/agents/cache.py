"""Agents from the npm registry, pinned, in a folder outside the repository."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from tests.agents.subprocess_group import run

NODE = "node@24.21.0"  # several agents need a newer node than the machine has
INSTALL_SECONDS = 600.0

_NPM_OPTIONS = ("--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=60000")
_failures: dict[tuple[str, ...], str] = {}  # packages that could not be installed, and why: not tried again


class NotInstallable(Exception):
    """npm is missing, the registry cannot be reached, or the folder cannot be written."""


def cache_folder() -> Path:
    """`MOONGATE_AGENTS`, else a folder in the user's cache."""
    given = os.environ.get("MOONGATE_AGENTS")
    return Path(given) if given else Path.home() / ".cache" / "moongate" / "agents"


def installed(packages: tuple[str, ...], seconds: float = INSTALL_SECONDS) -> Path:
    """The folder with these packages (and their `node_modules/.bin`). Installs them if they are not there yet."""
    try:
        folder = cache_folder() / "+".join(packages).replace("/", "-")
        if folder.is_dir():
            return folder
        if packages not in _failures:
            _failures[packages] = _install(packages, folder, seconds)
            if not _failures[packages]:
                del _failures[packages]
                return folder
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        _failures[packages] = str(error)
    raise NotInstallable(_failures[packages])


def _install(packages: tuple[str, ...], folder: Path, seconds: float) -> str:
    """Install into the folder; returns the reason if that fails."""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed"
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Installed in a temporary folder that is then renamed, so that an existing folder is complete.
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        (fresh / "package.json").write_text('{"private": true}', encoding="utf-8")
        finished = run([npm, "install", *_NPM_OPTIONS, *packages], fresh, seconds)
        if finished.code != 0:
            return f"npm cannot install {', '.join(packages)}: {finished.err}"
        if not folder.is_dir():  # another process may have been faster
            fresh.rename(folder)
        return ""
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def new_node(seconds: float = INSTALL_SECONDS) -> Path:
    """The folder, for `PATH`, of a node that is new enough for all agents."""
    found = installed((NODE,), seconds) / "node_modules" / "node" / "bin"
    if not (found / "node").exists():
        raise NotInstallable(f"{NODE} brought no node for this machine")
    return found
