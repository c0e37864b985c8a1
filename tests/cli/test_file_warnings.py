from __future__ import annotations

import json
from pathlib import Path

import pytest

from moongate.cli.admin_listener import with_admin_key
from moongate.cli.file_warnings import file_warnings
from moongate.gateway.config.load import read_config

CODE = """
from moongate import BaseTransformer
class Mine(BaseTransformer):
    pass
"""


def warnings(folder: Path, key: str = "$KEY", *, mode: int = 0o600, **settings: object) -> list[str]:
    """Of a configuration with this provider key and mode; its folder's name is taken out."""
    provider = {"name": "p", "api_base_url": "https://p.example/v1", "models": ["m"], "api_key": key}
    path = folder / "config.json"
    path.write_text(json.dumps({"providers": [provider], **settings}))
    path.chmod(mode)
    config = read_config(path, {"KEY": "a-key-of-the-provider"})
    return [line.replace(f"{folder}/", "") for line in file_warnings(config)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    return tmp_path


def test_keys_in_a_configuration_that_everybody_can_read(folder: Path) -> None:
    assert warnings(folder, "a-literal-key-of-mine", mode=0o644) == [
        "config.json: it holds keys, and every user of this machine can read it: chmod o= config.json"
    ]
    assert warnings(folder, "a-literal-key-of-mine", mode=0o640) == []
    assert warnings(folder, "$KEY", mode=0o644) == []
    assert len(warnings(folder, mode=0o644, api_keys=["a-literal-key-of-a-client"])) == 1
    assert len(warnings(folder, mode=0o644, admin={"key": "an-admin-key-of-more-than-32-characters"})) == 1


def test_a_key_that_is_only_named_may_be_read_by_everybody(folder: Path) -> None:
    assert warnings(folder, mode=0o644, admin={"key": "$KEY"}) == []
    assert warnings(folder, mode=0o644, admin={"port": 0}) == []
    assert warnings(folder, mode=0o644, api_keys="none") == []
    started = with_admin_key(read_config(folder / "config.json", {"KEY": "k"}), folder / "home")
    assert started.settings.admin is not None
    assert started.settings.admin.key
    assert list(file_warnings(started)) == []


def test_key_files_that_everybody_can_read(folder: Path) -> None:
    (folder / "key").write_text("a-key-in-a-file")
    (folder / "key").chmod(0o644)
    assert warnings(folder, "file:key") == ["key: every user of this machine can read this key: chmod o= key"]
    (folder / "key").chmod(0o600)
    assert warnings(folder, "file:key") == []


def test_code_that_others_can_write(folder: Path) -> None:
    code = folder / "plugins" / "mine.py"
    code.parent.mkdir()
    code.write_text(CODE)
    expected = ["plugins/mine.py: other users of this machine can change this code, which the gateway runs"]
    for file_mode, folder_mode, found in (
        (0o644, 0o755, []),
        (0o666, 0o755, expected),
        (0o644, 0o777, expected),  # the file can be replaced
        (0o644, 0o1777, []),  # a sticky folder: it cannot
    ):
        code.chmod(file_mode)
        code.parent.chmod(folder_mode)
        assert warnings(folder, transformers={"Mine": "plugins/mine.py"}) == found
    assert warnings(folder, transformers={"Quiet": "json.decoder:JSONDecoder"}) == []


def test_a_configuration_that_others_can_write(folder: Path) -> None:
    assert warnings(folder, mode=0o602) == ["config.json: other users of this machine can change the configuration"]
