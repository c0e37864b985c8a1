from __future__ import annotations

import time
from typing import Any

import pytest

from moongate.kimi.generations import recognise_model
from moongate.kimi.hosts import recognise_host
from moongate.kimi.options import KimiOptions
from moongate.kimi.refusals import REFUSALS, recognise_refusal, with_learned
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import JsonObject

DEFAULT = KimiOptions()
USER: JsonObject = {"role": "user", "content": "go"}

KNOWN = [
    ("thinking is enabled but reasoning_content is missing in assistant tool call message at index 3", "reasoning"),
    ("reasoning_content is missing", "reasoning"),
    ("Reasoning_content is missing in assistant tool call message", "reasoning"),
    ("invalid temperature: only 1 is allowed for this model", "sampling"),
    ("invalid temperature: only 0.6 is allowed for this model", "sampling"),
    ("invalid temperature: only 0 to 1 is allowed", "sampling"),
    ("invalid top_p: only 0.95 is allowed for this model", "sampling"),
    ("invalid n: only 1 is allowed for this model", "sampling"),
    ("invalid presence_penalty: only 0 is allowed for this model", "sampling"),
    ("Invalid request: invalid frequency_penalty: only 0 is allowed for this model", "sampling"),
    ("tool_choice 'required' is incompatible with thinking enabled", "tool_choice"),
    ("tool_choice 'specified' is incompatible with thinking enabled", "tool_choice"),
    ("invalid thinking: only type=enabled is allowed for this model", "thinking"),
    ("invalid thinking", "thinking"),
    ("invalid thinking: not supported by this model", "thinking"),
    ("invalid reasoning_effort: only low, high, max are allowed for this model", "effort"),
    ("invalid thinking.effort: only low, high, max are allowed for this model", "effort"),
    ("reasoning_effort 'medium' is not supported", "effort"),
    ("Unsupported value: 'reasoning_effort' does not support 'medium' with this model.", "effort"),
    ("tools.function.parameters is not a valid moonshot flavored json schema, details: <At path 'x'>", "schema"),
    ("not a valid moonshot flavored json schema", "schema"),
    ("response_format.json_schema.schema is not a valid moonshot flavored json schema, details: <>", "schema"),
    ("Invalid request: tools[0].function.parameters is not a valid moonshot flavored json schema", "schema"),
    ("Invalid request: function name is invalid, must start with a letter and can contain letters", "tool_name"),
    ("function name is invalid", "tool_name"),
    ("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'", "max_tokens"),
    ("max_tokens is not supported", "max_tokens"),
    (
        "Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use 'max_tokens' instead.",
        "max_completion_tokens",
    ),
    ("`max_completion_tokens` is unsupported", "max_completion_tokens"),
    ("Unrecognized request argument supplied: stream_options", "stream_options"),
    ("stream_options is not supported", "stream_options"),
    ("Invalid request: tokenization failed", "message_tools"),
    ("messages[2].tools is not supported", "message_tools"),
    ("messages.tools are not allowed for this model", "message_tools"),
    ("Dynamic tools are not supported by this model", "message_tools"),
    ("unsupported reasoning_effort: medium", "effort"),
    ("reasoning_effort must be one of low, high, max", "effort"),
    ("thinking.effort: 'xhigh' is not supported", "effort"),
    ("Unknown parameter: 'max_tokens'.", "max_tokens"),
    ("Unrecognized request argument supplied: max_completion_tokens", "max_completion_tokens"),
    ("The parameter `max_tokens` is not supported", "max_tokens"),
    ("parameter max_tokens not supported", "max_tokens"),
    ("this model does not support max_completion_tokens", "max_completion_tokens"),
    ("'max_completion_tokens' : property 'max_completion_tokens' is unsupported", "max_completion_tokens"),
    ("max_completion_tokens: Extra inputs are not permitted", "max_completion_tokens"),
    ("Invalid value for reasoning_effort: medium", "effort"),
    ("Invalid 'reasoning_effort': must be low, high or max", "effort"),
]

UNKNOWN = [
    "",
    "context length exceeded",
    "The user wrote: reasoning_content is missing",
    "Invalid content: 'invalid temperature: only 1 is allowed'",
    "messages[1].content: tool_choice 'required' is incompatible with thinking",
    '"invalid thinking"',
    "error: function name is invalid",
    "x is y is not a valid moonshot flavored json schema",
    "invalid temperature",
    "invalid temperature: must be a number",
    "invalid name: only 1 is allowed",
    "tool_choice is incompatible with thinking",
    "max_tokens must be positive",
    "max_tokens_per_day is not supported",
    "too many tools",
    "messages[2].tools is not allowed in user messages",
    "messages[2].tools is not allowed for role assistant",
    "messages[2].tools is not supported together with content",
    "messages[0].tools[1].function.name is duplicated",
    "invalid max_tokens: must be at least 1",
    "Unknown parameter: 'max_tokens_per_day'.",
    "effortless",
    "invalid value for max_tokens: 0",
    "metadata: Extra inputs are not permitted",
    "x" * 500 + "invalid thinking",
]


@pytest.mark.parametrize(("message", "rule"), KNOWN)
def test_known_refusals_are_recognised(message: str, rule: str) -> None:
    assert recognise_refusal(message, DEFAULT) == rule
    assert recognise_refusal(f" \n{message}", DEFAULT) == rule


@pytest.mark.parametrize("message", UNKNOWN)
def test_other_messages_are_not_recognised(message: str) -> None:
    assert recognise_refusal(message, DEFAULT) is None


@pytest.mark.parametrize(("message", "_rule"), KNOWN)
@pytest.mark.parametrize("before", ["The prompt says: ", "x", '"', "1. ", "Error in messages[0]: "])
def test_a_quoted_refusal_is_not_recognised(before: str, message: str, _rule: str) -> None:
    assert recognise_refusal(before + message, DEFAULT) is None


@pytest.mark.parametrize("rule", REFUSALS, ids=lambda rule: rule.name)
def test_every_rule_has_an_example_and_a_meaning(rule: Any) -> None:
    assert rule.name in {known for _, known in KNOWN}
    assert rule.meaning


@pytest.mark.parametrize(("message", "name"), KNOWN)
def test_an_option_that_is_off_is_never_turned_on(message: str, name: str) -> None:
    rule = next(each for each in REFUSALS if each.name == name)
    off = KimiOptions(**{rule.option: "off"})  # type: ignore[arg-type]
    assert recognise_refusal(message, off) is None
    facts = recognise_model("kimi"), recognise_host("")
    assert with_learned(*facts, {name}, off) == facts
    assert recognise_refusal(message, KimiOptions(learn_from_refusals=False)) is None


def test_recognition_is_linear() -> None:
    started = time.thread_time()
    for text in ("a." * 10**6, "invalid temperature: only " + "1 " * 10**6, "'" * 10**6, " " * 10**6):
        assert recognise_refusal(text, DEFAULT) is None
    assert time.thread_time() - started < 0.5


def sent(rules: set[str], model: str = "relay/some-kimi", **request: Any) -> JsonObject:
    transformer = KimiTransformer.from_config({}, model=model, base_url="https://relay.example/v1").with_rules(rules)
    body = {"messages": [USER], **request}
    return {key: value for key, value in transformer.begin(body).request.items() if request.get(key) is not value}


NAMED = {"type": "function", "function": {"name": "bash"}}
TOOL = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {}}}}


def test_sampling_fields_are_dropped() -> None:
    changed = sent({"sampling"}, temperature=0.2, top_p=1, n=1, presence_penalty=0, frequency_penalty=0, stop="x")
    assert changed == {"messages": [USER]}
    full = (
        KimiTransformer.from_config({}, model="m").with_rules({"sampling"}).begin({"messages": [], "n": 2, "stop": 1})
    )
    assert full.request == {"messages": [], "stop": 1}


def test_a_forced_choice_becomes_auto() -> None:
    for choice in ("required", NAMED):
        assert sent({"tool_choice"}, tools=[TOOL], tool_choice=choice)["tool_choice"] == "auto"
        assert sent({"tool_choice"}, "kimi-k3", tools=[TOOL], tool_choice=choice)["tool_choice"] == "auto"


def test_thinking_is_dropped() -> None:
    transformer = KimiTransformer.from_config({}, model="m").with_rules({"thinking"})
    assert transformer.begin({"messages": [], "thinking": {"type": "enabled"}}).request == {"messages": []}


def test_efforts_are_mapped() -> None:
    assert sent({"effort"}, reasoning_effort="medium")["reasoning_effort"] == "high"
    assert sent({"effort"}, thinking={"effort": "xhigh"})["reasoning_effort"] == "max"
    transformer = KimiTransformer.from_config({}, model="kimi-k2", base_url="https://api.moonshot.ai/v1")
    request = {"messages": [], "thinking": {"type": "disabled"}}
    assert transformer.with_rules({"effort"}).begin(request).request == {"messages": []}


def test_usage_is_no_longer_asked_for() -> None:
    assert not KimiTransformer.from_config({}, model="m").streams_usage
    assert KimiTransformer.from_config({}, model="m").with_rules({"stream_options"}).streams_usage


def test_limits_get_the_other_name() -> None:
    assert sent({"max_tokens"}, max_tokens=5) == {"messages": [USER], "max_completion_tokens": 5}
    assert sent({"max_completion_tokens"}, max_completion_tokens=5) == {"messages": [USER], "max_tokens": 5}


def test_calls_get_reasoning() -> None:
    call = {"id": "functions.bash:0", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "functions.bash:0", "content": ""},
    ]
    changed = sent({"reasoning"}, messages=messages, thinking={"type": "disabled"})
    assert changed["messages"][0]["reasoning_content"] == " "


def test_schemas_pass_the_strictest_level() -> None:
    tool = {"type": "function", "function": {"name": "pick", "parameters": {"type": "object", "$schema": "s"}}}
    changed = sent({"schema"}, tools=[tool])
    assert "$schema" not in changed["tools"][0]["function"]["parameters"]


def test_names_become_reversible() -> None:
    tool = {"type": "function", "function": {"name": "a.b", "parameters": {"type": "object", "$schema": "s"}}}
    function = sent({"tool_name"}, tools=[tool])["tools"][0]["function"]
    assert function["name"] != "a.b"
    assert function["parameters"] == tool["function"]["parameters"]  # type: ignore[index]


def test_schemas_and_names_inside_messages_follow_too() -> None:
    tool = {"type": "function", "function": {"name": "a.b", "parameters": {"type": "object", "$schema": "s"}}}
    messages = [{"role": "system", "content": "", "tools": [tool]}, USER]
    for rules, name, schema in (({"schema"}, "a.b", False), ({"tool_name"}, None, True), ({"sampling"}, "a.b", True)):
        sent_message = sent(rules, "kimi-k3", messages=messages).get("messages", messages)[0]
        function = sent_message["tools"][0]["function"]
        assert (function["name"] == "a.b") is (name == "a.b")
        assert ("$schema" in function["parameters"]) is schema
        assert sent_message["content"] == ""


@pytest.mark.parametrize("model", ["kimi-k3", "relay/some-kimi"])
def test_tools_inside_messages_move(model: str) -> None:
    changed = sent({"message_tools"}, model, messages=[{"role": "system", "tools": [TOOL]}, USER])
    assert changed == {"messages": [USER], "tools": [TOOL], "tool_choice": "auto"}


def test_a_transformer_recognises_refusals() -> None:
    transformer = KimiTransformer.from_config({}, model="m")
    assert transformer.recognise_refusal("invalid thinking") == "thinking"
    assert transformer.with_rules(set()) == transformer
    assert KimiTransformer.from_config({"learnFromRefusals": False}, model="m").recognise_refusal("x") is None
