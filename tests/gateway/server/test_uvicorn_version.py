"""The server uses internals of uvicorn, so the versions are capped: check a newer one before it is allowed."""

from __future__ import annotations

import inspect
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import uvicorn
from uvicorn.server import ServerState

ROOT = Path(__file__).parents[3]
ADVICE = (
    "uvicorn {installed} is not among the versions whose internals are known to fit ({allowed}). "
    "Run tests/gateway/server with it; if they pass, raise the cap in pyproject.toml and requirements/runtime.in."
)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)[:3]))


def _allowed() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (entry,) = (each for each in project["dependencies"] if each.startswith("uvicorn"))
    return str(entry).removeprefix("uvicorn")


def test_the_installed_version_is_one_that_is_known_to_fit() -> None:
    installed, allowed = version("uvicorn"), _allowed()
    bounds = re.fullmatch(r">=([\d.]+),<([\d.]+)", allowed)
    assert bounds is not None, "pyproject.toml must give the oldest and the newest version of uvicorn"
    message = ADVICE.format(installed=installed, allowed=allowed)
    assert _numbers(bounds[1]) <= _numbers(installed) < _numbers(bounds[2]), message


def test_the_lock_respects_the_cap() -> None:
    cap = _allowed().partition(",")[2]
    assert f"uvicorn{cap}\n" in (ROOT / "requirements" / "runtime.in").read_text(encoding="utf-8")


def test_the_internals_that_are_used_exist() -> None:
    state = ServerState()
    assert (state.total_requests, state.connections, state.tasks, state.default_headers) == (0, set(), set(), [])
    for name in ("startup", "shutdown", "on_tick"):
        assert inspect.iscoroutinefunction(getattr(uvicorn.Server, name)), name
    assert list(inspect.signature(uvicorn.Server.startup).parameters) == ["self", "sockets"]
    assert list(inspect.signature(uvicorn.Server.shutdown).parameters) == ["self", "sockets"]
    assert list(inspect.signature(uvicorn.Server.on_tick).parameters) == ["self", "counter"]
    assert hasattr(uvicorn.Server, "capture_signals")
    server = uvicorn.Server(uvicorn.Config("x:y", log_config=None))
    assert (server.should_exit, server.force_exit, isinstance(server.server_state, ServerState)) == (False, False, True)
