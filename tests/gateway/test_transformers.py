from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.load import parse_config
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.settings import CustomTransformer
from moongate.gateway.config.steps import Step
from moongate.gateway.transformers import Transformers
from moongate.payload import JsonObject
from moongate.pipeline.registry import TRANSFORMERS

AT = ConfigPlace(ConfigDocument("c.json", None, {}), "transformers.X")
LOUD = """
from dataclasses import dataclass
from moongate import BaseExchange, BaseTransformer

@dataclass(frozen=True)
class Loud(BaseTransformer):
    mark: str = "!"

    def begin(self, request):
        return BaseExchange({**request, "mark": self.mark})
"""


def custom(path: str, name: str = "X", **options: Any) -> CustomTransformer:
    return CustomTransformer(path, name, options, AT)


def begun(transformers: Transformers, name: str, options: JsonObject | None = None) -> JsonObject:
    return transformers.chain([Step(name, options or {}, AT)], "m", "http://x").begin({"messages": []}).request


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "loud.py").write_text(LOUD)
    return tmp_path


@pytest.mark.parametrize("path", ["loud.py:Loud", "loud.py", "./loud.py:Loud"])
def test_a_file_beside_the_configuration(folder: Path, path: str) -> None:
    found = Transformers.load([custom(path)], folder)
    assert begun(found, "X") == {"messages": [], "mark": "!"}
    assert begun(found, "X", {"mark": "?"})["mark"] == "?"


def test_options_of_a_step_override_the_defaults(folder: Path) -> None:
    found = Transformers.load([custom("loud.py", mark="#")], folder)
    assert begun(found, "X")["mark"] == "#"
    assert begun(found, "X", {"mark": "?"})["mark"] == "?"


def test_a_module_and_the_class_s_own_name(tmp_path: Path) -> None:
    found = Transformers.load([custom("moongate.chat.base:BaseTransformer", "")], tmp_path)
    assert "BaseTransformer" in found
    assert begun(found, "BaseTransformer") == {"messages": []}


def test_from_config_gets_model_and_base_url(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(
        "from moongate import BaseExchange, BaseTransformer\n"
        "class T(BaseTransformer):\n"
        "    @classmethod\n"
        "    def from_config(cls, options, *, model, base_url):\n"
        "        made = cls(); made.seen = [options, model, base_url]; return made\n"
        "    def begin(self, request): return BaseExchange({'seen': self.seen})\n"
    )
    assert begun(Transformers.load([custom("t.py:T")], tmp_path), "X", {"a": 1}) == {
        "seen": [{"a": 1}, "m", "http://x"]
    }


def test_an_installed_one_is_imported_only_when_it_is_used(tmp_path: Path) -> None:
    entry = EntryPoint("Installed", "moongate.chat.base:BaseTransformer", "moongate.transformers")
    broken = EntryPoint("Broken", "no.such.module:Thing", "moongate.transformers")
    found = Transformers({}, {}, {"Installed": entry, "Broken": broken})
    assert {"Installed", "Broken", "Kimi"} <= set(found)
    assert len(found) == len(TRANSFORMERS) + 3  # these two, and the placeholder
    assert begun(found, "Installed") == {"messages": []}
    with pytest.raises(ConfigError, match="cannot be loaded: ModuleNotFoundError"):
        begun(found, "Broken")


def test_entry_points_are_read_only_if_needed(tmp_path: Path) -> None:
    found = Transformers.load([], tmp_path)
    assert "Kimi" in found
    assert "installed" not in vars(found)
    assert "Nobody" not in found
    assert vars(found)["installed"] == {}


def test_the_placeholder_does_nothing(tmp_path: Path) -> None:
    assert begun(Transformers.load([], tmp_path), "CustomTransformer") == {"messages": []}


def test_a_custom_transformer_replaces_the_placeholder(folder: Path) -> None:
    found = Transformers.load([custom("loud.py", "CustomTransformer")], folder)
    assert begun(found, "CustomTransformer")["mark"] == "!"


@pytest.mark.parametrize(
    ("content", "path", "message"),
    [
        ("x = 1", "t.py", "expected one class with begin(request) in it, found 0"),
        ("x = 1", "t.py:T", "t.py has no class 'T'"),
        ("raise ValueError('no')", "t.py", "cannot be loaded: ValueError: no"),
        ("def", "t.py", "cannot be loaded: SyntaxError"),
        ("", "gone.py", "cannot be loaded: FileNotFoundError"),
        ("", "no.such.module:T", "cannot be loaded: ModuleNotFoundError"),
        ("class T: pass", "t.py:T", "T is not a transformer: it has no begin(request)"),
        ("class T:\n    def begin(self, r): ...", "t.py:T", "cannot be built: TypeError"),
    ],
)
def test_what_is_no_transformer_is_refused(tmp_path: Path, content: str, path: str, message: str) -> None:
    (tmp_path / "t.py").write_text(content)
    with pytest.raises(ConfigError) as caught:
        begun(Transformers.load([custom(path)], tmp_path), "X", {"unknown": 1} if "built" in message else {})
    assert str(caught.value).startswith("c.json:1: transformers.X: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["Kimi", "X"])
def test_a_name_cannot_be_used_twice(folder: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="a second transformer named"):
        Transformers.load([custom("loud.py"), custom("loud.py", name)], folder)


def test_an_option_error_of_a_custom_transformer_names_its_place(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(
        "from moongate import ConfigError\n"
        "class T:\n"
        "    def __init__(self): raise ConfigError('no good')\n"
        "    def begin(self, r): ...\n"
    )
    with pytest.raises(ConfigError) as caught:
        begun(Transformers.load([custom("t.py:T")], tmp_path), "X")
    assert str(caught.value) == "c.json:1: transformers.X: no good"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("raise ConfigError('no good', path='team[0]')", "team[0]: no good"),
        ("return KimiTransformer.from_config(options, model=model, path='')", "team: unknown option 'team'"),
    ],
)
def test_an_option_error_of_a_custom_transformer_has_the_line_of_the_option(
    tmp_path: Path, body: str, found: str
) -> None:
    (tmp_path / "t.py").write_text(
        "from moongate import ConfigError, KimiTransformer\n"
        "class T:\n"
        "    @classmethod\n"
        f"    def from_config(cls, options, *, model, base_url): {body}\n"
        "    def begin(self, r): ...\n"
    )
    text = """{
      "providers": [{
        "name": "p", "api_base_url": "http://127.0.0.1:1/v1", "models": ["m"],
        "transformer": {"use": [["T", {
          "team": ["x"]
        }]]}
      }],
      "transformers": {"T": "t.py:T"}
    }"""
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "config.json", tmp_path, {})
    assert str(caught.value).startswith(f"config.json:5: providers[0].transformer.use[0][1].{found}")


def test_secrets_in_third_party_exceptions_are_masked(tmp_path: Path) -> None:
    """Secrets of the configuration, wherever they come from, are not shown in the text of an exception."""
    (tmp_path / "key.txt").write_text("sk-from-a-file-1234\n")
    (tmp_path / "t.py").write_text(
        "from moongate import BaseTransformer\n"
        "class T(BaseTransformer):\n"
        "    def __init__(self):\n"
        "        raise ValueError('sk-from-a-file-1234 sk-literal-1234 sk-of-the-environment client-key-1 b')\n"
    )
    provider = {
        "name": "p",
        "api_base_url": "http://127.0.0.1:1/v1",
        "api_key": ["file:key.txt", "sk-literal-1234", {"key": "$KEY", "concurrency": 2}],
        "models": ["m"],
        "transformer": {"use": ["T"]},
    }
    given = {"providers": [provider], "api_keys": ["client-key-1"], "transformers": [{"path": "t.py", "name": "T"}]}
    with pytest.raises(ConfigError) as caught:
        parse_config(json.dumps(given), "config.json", tmp_path, {"KEY": "sk-of-the-environment"})
    assert str(caught.value).endswith("cannot be built: ValueError: [secret] [secret] [secret] [secret] b")
