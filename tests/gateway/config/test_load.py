from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.load import Config, check_exposure, file_stamp, is_loopback, parse_config, read_config
from moongate.payload import dumps_text

PROVIDER: dict[str, Any] = {
    "name": "p",
    "api_base_url": "http://127.0.0.1:9",
    "api_key": "sk-provider",
    "models": ["m"],
    "transformer": {"use": ["Kimi"]},
}
WHOLE: dict[str, Any] = {"providers": [PROVIDER]}

ORIGINAL = """
{
  "name": "openrouter",
  "api_base_url": "https://openrouter.ai/api",
  "api_key": "your-openrouter-key",
  "models": ["moonshotai/Kimi-K2-Instruct"],
  "transformer": {
    "use": ["Kimi"]
  }
}

{
  "name": "siliconflow",
  "api_base_url": "https://api.siliconflow.cn/v1",
  "api_key": "your-siliconflow-key",
  "models": ["moonshotai/Kimi-K2-Instruct"],
  "transformer": {
    "use": ["Kimi"]
  }
}
"""
ORIGINAL_CUSTOM = """
{
  "name": "kimi",
  "api_base_url": "https://api.moonshot.cn",
  "api_key": "your-api-key-here",
  "models": ["moonshot-v1-8k"],
  "transformer": {
    "use": ["Kimi", "CustomTransformer"]
  }
}
"""


def load(value: Any, environment: dict[str, str] | None = None, folder: Path = Path()) -> Config:
    text = value if isinstance(value, str) else dumps_text(value)
    return parse_config(text, "c.json", folder, environment or {})


def refused(value: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(value)
    return str(caught.value)


@pytest.mark.parametrize("value", [PROVIDER, [PROVIDER], WHOLE, {"providers": PROVIDER}])
def test_one_provider_a_list_or_the_whole(value: Any) -> None:
    config = load(value)
    assert [source.name for source in config.sources] == ["p"]
    assert config.settings.port == 3000
    assert config.settings.host == "127.0.0.1"
    assert config.client_keys == ()


def test_the_examples_of_the_original_load_verbatim() -> None:
    first, second = load(ORIGINAL).sources
    assert first.endpoint.url == "https://openrouter.ai/api/v1/chat/completions"
    assert second.endpoint.url == "https://api.siliconflow.cn/v1/chat/completions"
    (third,) = load(ORIGINAL_CUSTOM).sources
    assert [step.name for step in third.chains["moonshot-v1-8k"]] == ["Kimi", "CustomTransformer"]


def test_secrets_come_from_the_environment_and_from_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-file")
    value = {
        "providers": [{**PROVIDER, "api_key": ["$ONE", {"key": "file:key", "concurrency": 3}]}],
        "api_keys": [{"key": "${MINE}", "name": "laptop", "rate": 5}],
    }
    config = load(value, {"ONE": "sk-one", "MINE": "mine"}, tmp_path)
    assert [(key.key, key.concurrency) for key in config.sources[0].keys] == [("sk-one", 0), ("sk-file", 3)]
    assert config.client_keys is not None
    assert [(key.key, key.name, key.rate) for key in config.client_keys] == [("mine", "laptop", 5)]
    assert config.secrets == {"sk-one", "sk-file", "mine"}


def test_a_key_that_is_the_name_of_its_provider_is_no_secret() -> None:
    given = {**PROVIDER, "name": "ollama", "api_key": ["ollama", "another-key"]}
    assert load({"providers": [given], "api_keys": ["mine"]}).secrets == {"another-key", "mine"}


def test_headers_may_hold_secrets() -> None:
    config = load({**PROVIDER, "headers": {"X-Team": "$TEAM", "X-Title": "moongate"}}, {"TEAM": "a-long-team-secret"})
    assert config.sources[0].headers == {"x-team": "a-long-team-secret", "x-title": "moongate"}
    assert "a-long-team-secret" in config.secrets


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("7", "c.json:1: expected a provider, a list of providers or an object with 'providers', found a number"),
        ("{}", "c.json:1: 'providers' is missing"),
        (
            {"providers": []},
            "c.json:1: providers: expected object (see Provider), or a list of them, found an empty list",
        ),
        ({**WHOLE, "prot": 1}, "c.json:1: prot: unknown setting 'prot', did you mean 'port'?"),
        ({**WHOLE, "port": 70000}, "c.json:1: port: expected whole number, 0 … 65535, found 70000"),
        ({**PROVIDER, "model": []}, "c.json:1: model: unknown setting 'model', did you mean 'models'?"),
        (
            {**PROVIDER, "port": 1},
            "c.json:1: port: 'port' is no setting of a provider: write {\"providers\": [{…}], …}",
        ),
        (
            {"name": "p", "api_url": "http://x", "models": ["m"]},
            "c.json:1: api_url: unknown setting 'api_url', did you mean 'api_base_url'?",
        ),
        (
            {"Providers": [PROVIDER]},
            "c.json:1: Providers: unknown setting 'Providers', did you mean 'providers'? Or, if this is",
        ),
        ([PROVIDER, PROVIDER], "c.json:1: [1]: a second provider named 'p'"),
        ({**PROVIDER, "models": ["m", "m"]}, "c.json:1: models[1]: a second model named 'm'"),
        ({**PROVIDER, "api_key": ["same", "same"]}, "c.json:1: api_key[1]: the same key twice"),
        ({**PROVIDER, "api_key": "$GONE"}, "c.json:1: api_key: the environment variable 'GONE' is not set"),
        (
            {**PROVIDER, "name": "a/b"},
            "c.json:1: name: expected a name without blanks, commas and slashes, found 'a/b'",
        ),
        ({**PROVIDER, "ca_file": "gone.pem"}, "c.json:1: ca_file: cannot be read: gone.pem"),
        ({**PROVIDER, "headers": {"Host": "x"}}, "c.json:1: headers.Host: 'Host' is set by the gateway itself"),
        ({**PROVIDER, "headers": {"a b": "x"}}, "c.json:1: headers[\"a b\"]: 'a b' is not the name of a header"),
        ({**PROVIDER, "headers": {"A": "x\n"}}, "c.json:1: headers.A: a header's value is made of printable"),
        ({**WHOLE, "api_keys": ["none", "x"]}, 'c.json:1: api_keys[0]: "none" stands alone: "api_keys": "none"'),
        ({**WHOLE, "api_keys": ["x", "x"]}, "c.json:1: api_keys[1]: the same key twice"),
        (
            {**WHOLE, "host": "0.0.0.0", "api_keys": ["long-enough-for-it", {"key": "fifteen-chars-a"}]},
            "c.json:1: api_keys[1]: a key of fewer than 16 characters can be guessed: not allowed on 0.0.0.0",
        ),
        ({**WHOLE, "host": "0.0.0.0"}, "c.json:1: api_keys: listening on 0.0.0.0 needs 'api_keys'"),
        (
            {**WHOLE, "host": "::", "api_keys": "none"},
            'c.json:1: api_keys: "none" is only allowed on a loopback address',
        ),
        (
            {**PROVIDER, "transformer": {"use": [["Kimi", {"repairOnMismach": True}]]}},
            "c.json:1: transformer.use[0][1].repairOnMismach: unknown option 'repairOnMismach', did you mean "
            "'repairOnMismatch'?",
        ),
    ],
)
def test_every_error_names_its_place(value: Any, message: str) -> None:
    assert refused(value).startswith(message)


def test_an_error_names_its_line() -> None:
    text = '{\n  "providers": [{\n    "name": "p",\n    "api_base_url": "http://x",\n    "modles": []\n  }]\n}'
    assert refused(text) == "c.json:5: providers[0].modles: unknown setting 'modles', did you mean 'models'?"


def test_clients_without_keys_only_on_loopback() -> None:
    config = load({**WHOLE, "api_keys": "none"})
    assert config.client_keys is None
    check_exposure(config, "localhost")
    with pytest.raises(ConfigError, match="loopback"):
        check_exposure(config, "192.168.0.2")


def test_another_address_with_keys_is_fine() -> None:
    assert load({**WHOLE, "host": "0.0.0.0", "api_keys": "sixteen-chars-at"}).settings.host == "0.0.0.0"


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("LOCALHOST.", True), ("0.0.0.0", False), ("x.y", False)],
)
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(dumps_text(PROVIDER))
    config = read_config(file, {})
    assert config.file == file
    assert config.file_stamp == file_stamp(file) is not None
    file.write_text(dumps_text(PROVIDER) + "\n")
    assert config.file_stamp != file_stamp(file)
    assert file_stamp(tmp_path / "none") is file_stamp(None) is None


def test_the_admin_listener_has_defaults_and_can_be_off() -> None:
    admin = load({"providers": [PROVIDER]}).settings.admin
    assert admin is not None
    assert (admin.host, admin.port, admin.key, admin.at) == ("127.0.0.1", 3001, "", None)
    assert load({"providers": [PROVIDER], "admin": "off"}).settings.admin is None
    assert "unknown value 'of', did you mean 'off'?" in refused({"providers": [PROVIDER], "admin": "of"})
    config = load({"providers": [PROVIDER], "admin": {"key": "$ADMIN"}}, {"ADMIN": "an-admin-key"})
    assert "an-admin-key" in config.secrets


def test_the_admin_listener_of_other_machines_needs_a_long_key() -> None:
    for admin in ({"host": "0.0.0.0"}, {"host": "0.0.0.0", "key": "x" * 31}):
        assert "admin.key: listening on 0.0.0.0 needs a key of at least 32" in refused(
            {"providers": [PROVIDER], "admin": admin}
        )
    assert load({"providers": [PROVIDER], "admin": {"host": "0.0.0.0", "key": "x" * 32}}).settings.admin is not None


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "config.json: cannot be read: No such file"), (b"{\n\n\xff}", "config.json:3: not UTF-8")],
)
def test_a_file_that_cannot_be_read(content: bytes | None, message: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        read_config(file, {})
    assert message in str(caught.value)


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(b" " * (5 << 20))
    with pytest.raises(ConfigError, match="larger than 4 MiB"):
        read_config(file, {})
