"""Agents from the npm registry, pinned, in a folder outside the repository."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NODE = "node@24.21.0"  # several agents need a newer node than the machine has
INSTALL_SECONDS = 600.0


class NotInstallable(Exception):
    """npm is missing, or the registry cannot be reached."""


def cache_folder() -> Path:
    """`MOONGATE_AGENTS`, else a folder in the user's cache."""
    given = os.environ.get("MOONGATE_AGENTS")
    return Path(given) if given else Path.home() / ".cache" / "moongate" / "agents"


def installed(packages: tuple[str, ...], seconds: float = INSTALL_SECONDS) -> Path:
    """The folder with these packages (and their `node_modules/.bin`). Installs them if they are not there yet."""
    folder = cache_folder() / "+".join(packages).replace("/", "-")
    if folder.is_dir():
        return folder
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstallable("npm is not installed")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Installed beside and then moved, so that a folder that is there is whole.
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        (fresh / "package.json").write_text('{"private": true}', encoding="utf-8")
        command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", *packages]
        done = subprocess.run(
            command, cwd=fresh, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False
        )
        if done.returncode != 0:
            raise NotInstallable(f"npm cannot install {', '.join(packages)}: {done.stderr.strip()[-300:]}")
        if not folder.is_dir():
            fresh.rename(folder)
    except subprocess.TimeoutExpired:
        raise NotInstallable(f"npm needs more than {seconds:.0f} s for {', '.join(packages)}") from None
    except OSError as error:
        if not folder.is_dir():  # another process may have been faster
            raise NotInstallable(str(error)) from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return folder


def new_node(seconds: float = INSTALL_SECONDS) -> Path:
    """The folder of a node that is new enough for all of them, for `PATH`."""
    found = installed((NODE,), seconds) / "node_modules" / "node" / "bin"
    if not (found / "node").exists():
        raise NotInstallable(f"{NODE} brought no node for this machine")
    return found
