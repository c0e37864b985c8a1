from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a new user, who has no configuration yet and no key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MOONGATE_CONFIG", raising=False)
    monkeypatch.setenv("MOONGATE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path
