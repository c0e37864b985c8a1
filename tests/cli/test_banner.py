"""What `moongate serve` says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from moongate.cli import banner


@pytest.mark.parametrize(
    ("compiled", "name", "line"),
    [
        (True, "Makefile", "runs as machine code"),
        (False, "Makefile", "runs as Python; `make compiled` builds the same as machine code, "),
        (False, "none", "runs as Python; wheels for Linux and macOS have the same as machine code, "),
    ],
)
def test_who_has_no_makefile_is_not_told_to_use_one(
    compiled: bool, name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Makefile").touch()
    monkeypatch.setattr(banner, "is_compiled", lambda: compiled)
    assert banner.build_line(tmp_path / name).startswith(line)
