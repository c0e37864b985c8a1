from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.kimi.config_fields import option_name
from moongate.kimi.options import KimiOptions
from moongate.kimi.tool_tokens import K2_TOKENS, MAX_TOKEN_CHARS, ToolTokens


def test_an_empty_configuration_means_the_defaults() -> None:
    assert KimiOptions.from_config(None) == KimiOptions.from_config({}) == KimiOptions()


def test_the_defaults_of_the_specification() -> None:
    options = KimiOptions()
    assert (options.tool_choice_default, options.id_prefix, options.counter_scope) == (
        "auto",
        "functions",
        "conversation",
    )
    on = {each.name for each in fields(options) if getattr(options, each.name) is True}
    assert on == {"accept_role_tool", "enforce_finish_reason_loop", "repair_on_mismatch", "learn_from_refusals"}


def test_camel_case_becomes_snake_case() -> None:
    assert option_name("emit_tool_calls_in_json") == "emitToolCallsInJson"
    assert KimiOptions.from_config({"repairOnMismatch": False}).repair_on_mismatch is False


def test_every_option_can_be_configured() -> None:
    config = {option_name(each.name): each.default for each in fields(KimiOptions) if each.name != "tool_tokens"}
    assert KimiOptions.from_config(config) == KimiOptions()


def test_the_agent_preset_turns_two_options_on() -> None:
    options = KimiOptions.from_config({"preset": "agent"})
    assert (options.preset, options.manual_tool_parsing, options.repair_arguments) == ("agent", True, True)


def test_an_option_set_by_name_wins_over_the_preset() -> None:
    options = KimiOptions.from_config({"preset": "agent", "repairArguments": False})
    assert (options.manual_tool_parsing, options.repair_arguments) == (True, False)


def test_any_subset_of_the_tokens_can_be_configured() -> None:
    tokens = KimiOptions.from_config({"toolTokens": {"callEnd": "</call>"}}).tool_tokens
    assert tokens == ToolTokens(call_end="</call>")
    assert tokens.call_begin == K2_TOKENS.call_begin


@pytest.mark.parametrize(
    ("config", "texts"),
    [
        ({"manualToolParse": True}, ["options.manualToolParse", "'manualToolParsing'"]),
        ({"assembleDeltas": True}, ["'assembleToolDeltas'"]),
        ({"id_prefix": "x"}, ["'idPrefix'"]),
        ({3: True}, ["options.3"]),
        ({"toolTokens": {"callBegins": "x"}}, ["options.toolTokens.callBegins", "'callBegin'"]),
        ({"toolTokens": {"callEnd": 3}}, ["options.toolTokens.callEnd"]),
        ({"toolTokens": {"callEnd": ""}}, ["options.toolTokens.callEnd"]),
        ({"toolTokens": {"callEnd": "x" * (MAX_TOKEN_CHARS + 1)}}, ["options.toolTokens.callEnd"]),
        ({"toolTokens": {"callEnd": "x", "callBegin": "x"}}, ["options.toolTokens", "same"]),
        ({"toolTokens": "x"}, ["options.toolTokens", "object"]),
        ({"counterScope": "session"}, ["options.counterScope", "'conversation'"]),
        ({"counterScope": ["request"]}, ["options.counterScope"]),
        ({"preset": None}, ["options.preset", "'agent'"]),
        ({"acceptRoleTool": 1}, ["options.acceptRoleTool", "bool"]),
        ({"idPrefix": 3}, ["options.idPrefix"]),
        ({"idPrefix": ""}, ["options.idPrefix"]),
        ({"idPrefix": "a.b"}, ["options.idPrefix"]),
        ({"idPrefix": "a\n"}, ["options.idPrefix"]),
        ({"idPrefix": "a" * 33}, ["options.idPrefix"]),
        (["preset"], ["options", "object"]),
    ],
)
def test_a_wrong_value_is_refused_with_its_path(config: Any, texts: list[str]) -> None:
    with pytest.raises(ConfigError) as refusal:
        KimiOptions.from_config(config)
    for text in texts:
        assert text in str(refusal.value)


def test_the_path_starts_with_the_callers_path() -> None:
    with pytest.raises(ConfigError) as refusal:
        KimiOptions.from_config({"presets": "agent"}, "providers[0].transformer.use[0][1]")
    assert refusal.value.path == "providers[0].transformer.use[0][1].presets"
    with pytest.raises(ConfigError) as refusal:
        KimiOptions.from_config({"presets": "agent"}, "")
    assert refusal.value.path == "presets"
    with pytest.raises(ConfigError) as refusal:
        KimiOptions.from_config({"preset": "agents"}, "")
    assert refusal.value.path == "preset"


def test_options_made_in_python_are_checked_too() -> None:
    with pytest.raises(ConfigError, match=r"KimiOptions\.id_prefix"):
        KimiOptions(id_prefix="a.b")
