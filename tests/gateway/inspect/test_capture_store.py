"""Captures in a folder: who can read them, how many stay, and for how long."""

from __future__ import annotations

import os
from pathlib import Path

from tests.gateway.ui.running import pages, until

from moongate.gateway.inspect.capture_store import MAX_CAPTURES, CapturesInFolder

DAY = 86_400.0


def written(folder: Path, name: str, age: float) -> Path:
    """A file that was written so many seconds ago."""
    path = folder / name
    path.write_bytes(b"{}")
    os.utime(path, (path.stat().st_mtime - age,) * 2)
    return path


def test_only_the_owner_reads_captures(tmp_path: Path) -> None:
    store = CapturesInFolder(tmp_path / "captures", 1 << 20, days=3)
    store.add("req_1/../x", b"{}")
    (file,) = (tmp_path / "captures").iterdir()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert (store.get("req_1/../x"), store.get("req_2")) == (b"{}", None)


def test_what_is_too_old_leaves_and_so_does_what_a_killed_worker_has_begun(tmp_path: Path) -> None:
    store = CapturesInFolder(tmp_path, 1 << 20, days=3)
    old, new = written(tmp_path, "a.capture.json", 4 * DAY), written(tmp_path, "b.capture.json", 2 * DAY)
    begun, being_written = written(tmp_path, ".c.capture.json.17", 3600), written(tmp_path, ".d.capture.json.17", 1)
    other = written(tmp_path, "notes.txt", 9 * DAY)
    store.sweep()
    assert [each.exists() for each in (old, new, begun, being_written, other)] == [False, True, False, True, True]


def test_the_oldest_make_room(tmp_path: Path) -> None:
    store = CapturesInFolder(tmp_path, 1 << 20)
    for number in range(MAX_CAPTURES + 3):
        written(tmp_path, f"{number}.capture.json", number)
    store.sweep()
    assert store.ids() == {str(number) for number in range(MAX_CAPTURES)}
    store.clear()
    assert store.ids() == set()


def test_old_captures_leave_though_nothing_is_captured_any_more(tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    old, new = written(captures, "a.capture.json", 4 * DAY), written(captures, "b.capture.json", 2 * DAY)
    with pages(tmp_path, inspect={"folder": str(captures), "days": 3}):
        until(lambda: not old.exists())
        assert new.exists()
