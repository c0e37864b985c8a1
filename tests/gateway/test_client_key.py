from __future__ import annotations

import threading
from pathlib import Path

import pytest

from moongate.errors import ConfigError
from moongate.gateway.client_key import FILE, home, own_key


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    key, made = own_key(folder)
    assert made
    assert len(key) > 40
    assert own_key(folder) == (key, False)
    assert (folder / FILE).stat().st_mode & 0o777 == 0o600
    assert [each.name for each in folder.iterdir()] == [FILE]


def test_two_that_start_at_once_agree(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(own_key(tmp_path)[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_an_empty_file_is_nobodys_key(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    key, made = own_key(tmp_path)
    assert made
    assert (tmp_path / FILE).read_text().strip() == key


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"no client key can be kept at .* set 'api_keys', or MOONGATE_HOME"):
        own_key(tmp_path / "file")


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="it is not text"):
        own_key(tmp_path)


def test_where_it_lives() -> None:
    assert home({"MOONGATE_HOME": "/m", "XDG_CONFIG_HOME": "/x"}) == Path("/m")
    assert home({"XDG_CONFIG_HOME": "/x"}) == Path("/x/moongate")
    assert home({}) == Path.home() / ".config" / "moongate"
