from __future__ import annotations

from dataclasses import dataclass

import pytest

from moongate.errors import ConfigError
from moongate.kimi.config_fields import option_name, option_path, read_fields


@dataclass
class Sample:
    first_field: int = 0
    second: str = ""


def test_a_field_is_written_in_camel_case() -> None:
    assert option_name("emit_tool_calls_in_json") == "emitToolCallsInJson"
    assert option_name("host") == "host"


def test_the_path_of_an_option() -> None:
    assert option_path("options", "id_prefix") == "options.idPrefix"
    assert option_path("", "id_prefix") == "idPrefix"


def test_entries_are_read_under_the_names_of_their_fields() -> None:
    assert read_fields(Sample, {"firstField": "any", "second": None}, "here") == {"first_field": "any", "second": None}


@pytest.mark.parametrize(
    ("config", "path", "error_path", "message"),
    [
        ([], "here", "here", "must be an object"),
        ({"first_field": 1}, "here", "here.first_field", "did you mean 'firstField'?"),
        ({"secnd": 1}, "", "secnd", "did you mean 'second'?"),
        ({3: 1}, "here", "here.3", "unknown option 3"),
    ],
)
def test_an_unknown_entry_is_refused_with_its_path(config: object, path: str, error_path: str, message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        read_fields(Sample, config, path)
    assert refusal.value.path == error_path
    assert message in refusal.value.message
