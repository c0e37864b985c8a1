from __future__ import annotations

import threading
from pathlib import Path

import pytest

from moongate.errors import ConfigError
from moongate.gateway.http.client_key import FILE, home, own_key


def test_a_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    key, made = own_key(folder)
    assert made
    assert len(key) > 40
    assert own_key(folder) == (key, False)
    assert (folder / FILE).stat().st_mode & 0o777 == 0o600
    assert [each.name for each in folder.iterdir()] == [FILE]


def test_two_processes_that_start_at_once_use_the_same_key(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(own_key(tmp_path)[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_an_empty_file_holds_no_key(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    key, made = own_key(tmp_path)
    assert made
    assert (tmp_path / FILE).read_text().strip() == key


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=r"no client key can be kept at .* set 'api_keys', or MOONGATE_HOME"):
        own_key(tmp_path / "file")


def test_a_file_that_is_not_text_is_an_error(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="it is not text"):
        own_key(tmp_path)


def test_the_folder_of_the_key() -> None:
    assert home({"MOONGATE_HOME": "/m", "XDG_CONFIG_HOME": "/x"}) == Path("/m")
    assert home({"XDG_CONFIG_HOME": "/x"}) == Path("/x/moongate")
    assert home({}) == Path.home() / ".config" / "moongate"
