from __future__ import annotations

import os
from pathlib import Path

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.secrets import MAX_FILE_SIZE, named_secrets, resolve_secret

AT = ConfigPlace(ConfigDocument("f", None, {}), "api_key")


def test_a_secret_is_itself_a_variable_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from-file\n")
    environment = {"KEY": "from-env", "BLANK": ""}
    for given, meant in {
        "sk-1": "sk-1",
        "$KEY": "from-env",
        "${KEY}": "from-env",
        "file:key": "from-file",
        f"file:{tmp_path}/key": "from-file",
        "pa$$word": "pa$$word",
    }.items():
        assert resolve_secret(given, AT, environment, tmp_path) == meant


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("$NOPE", "f:1: api_key: the environment variable 'NOPE' is not set"),
        ("$BLANK", "f:1: api_key: the environment variable 'BLANK' is set, but empty"),
        ("${SPACES}", "f:1: api_key: the environment variable 'SPACES' is set, but empty"),
        ("${}", "f:1: api_key: the environment variable '' is not set"),
        ("$KEY", "f:1: api_key: the environment variable 'KEY' is not set, did you mean 'key'?"),
        ("file:gone", "f:1: api_key: the key file 'gone' cannot be read: No such file or directory"),
        ("file:binary", "f:1: api_key: the key file 'binary' cannot be read: it is not text"),
        ("two words", "f:1: api_key: a key must be made of visible ASCII characters, without blanks"),
        ("file:empty", "f:1: api_key: a key must be made of visible ASCII characters, without blanks"),
        ("schlüssel", "f:1: api_key: a key must be made of visible ASCII characters, without blanks"),
        ("a\r\nX-Evil: 1", "f:1: api_key: a key must be made of visible ASCII characters, without blanks"),
    ],
)
def test_an_unusable_secret_is_refused(given: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "empty").write_bytes(b"\n")
    with pytest.raises(ConfigError) as caught:
        resolve_secret(given, AT, {"BLANK": "", "SPACES": " \n", "key": "hidden"}, tmp_path)
    assert str(caught.value) == message


def test_only_a_small_regular_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "largest").write_bytes(b"k" * MAX_FILE_SIZE)
    (tmp_path / "larger").write_bytes(b"k" * (MAX_FILE_SIZE + 1))
    assert len(resolve_secret("file:largest", AT, {}, tmp_path)) == MAX_FILE_SIZE
    for name, reason in {
        "pipe": "it is not a regular file",
        "folder": "it is not a regular file",
        "/dev/zero": "it is not a regular file",
        "larger": "it is larger than 64 KiB",
    }.items():
        with pytest.raises(ConfigError, match=f"the key file '{name}' cannot be read: {reason}"):
            resolve_secret(f"file:{name}", AT, {}, tmp_path)
        assert named_secrets({"api_key": f"file:{name}"}, {}, tmp_path) == set()
