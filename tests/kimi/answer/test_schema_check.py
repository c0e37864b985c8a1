"""The check of calls against the client's schemas, when the answer is over."""

from __future__ import annotations

from typing import Any

import pytest

from moongate import KimiTransformer
from moongate.chat.verdict import CLEAN, Verdict
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.generations import recognise_model
from moongate.kimi.hosts import recognise_host
from moongate.kimi.options import KimiOptions

MISMATCH = Verdict("damaged", ("schema_mismatch",))
SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def tool(name: str = "f", schema: Any = SCHEMA) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def call(arguments: str, name: str = "f", number: int = 0) -> dict[str, Any]:
    return {"id": f"functions.{name}:{number}", "type": "function", "function": {"name": name, "arguments": arguments}}


def begun(*tools: dict[str, Any], host: str = "") -> KimiExchange:
    model = "kimi-k2.6"
    transformer = KimiTransformer(KimiOptions(), recognise_model(model), recognise_host(host))
    exchange = transformer.begin_unguarded(
        {"model": model, "messages": [{"role": "user", "content": "Hi"}], "tools": list(tools)}
    )
    assert isinstance(exchange, KimiExchange)
    return exchange


def checked(exchange: KimiExchange, *choices: tuple[list[dict[str, Any]], str]) -> Verdict | None:
    """The verdict after the check; None if there was nothing to check."""
    answer = [
        {"index": at, "message": {"role": "assistant", "content": None, "tool_calls": calls}, "finish_reason": reason}
        for at, (calls, reason) in enumerate(choices)
    ]
    exchange.reply({"choices": answer})
    check = exchange.schema_check()
    return None if check is None else check()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [('{"n": 1}', CLEAN), ('{"n": "one"}', MISMATCH), ("{}", MISMATCH), ("[]", MISMATCH)],
)
def test_arguments_must_fit_the_schema_of_their_tool(arguments: str, expected: Verdict) -> None:
    exchange = begun(tool())
    assert checked(exchange, ([call(arguments)], "tool_calls")) == expected
    assert exchange.verdict == expected


def test_the_verdict_without_the_check_knows_nothing_of_schemas() -> None:
    exchange = begun(tool())
    message = {"role": "assistant", "content": None, "tool_calls": [call("{}")]}
    exchange.reply({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    assert exchange.verdict == CLEAN


def test_an_answer_without_calls_and_a_request_without_tools_have_nothing_to_check() -> None:
    exchange = begun(tool())
    exchange.reply(
        {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi."}, "finish_reason": "stop"}]}
    )
    assert exchange.schema_check() is None
    assert checked(begun(), ([call("{}")], "tool_calls")) is None


def test_other_damage_stays_and_is_not_counted_twice() -> None:
    found = checked(begun(tool()), ([call("{", number=0), call('{"n": ""}', number=1)], "tool_calls"))
    assert found == Verdict("damaged", ("invalid_json", "schema_mismatch"))
    found = checked(begun(tool()), ([call("{}", "g")], "tool_calls"))
    assert found == Verdict("damaged", ("unknown_tool",))


def test_what_the_providers_own_limit_cut_is_no_damage() -> None:
    assert checked(begun(tool()), ([call("{}")], "length")) == CLEAN


def test_a_tool_without_parameters_takes_any_object() -> None:
    assert checked(begun(tool(schema=None)), ([call('{"x": 1}')], "tool_calls")) == CLEAN


def test_the_worst_choice_counts() -> None:
    found = checked(begun(tool()), ([call('{"n": 1}')], "tool_calls"), ([call("{}", number=1)], "tool_calls"))
    assert found == MISMATCH


def test_custom_calls_are_not_checked() -> None:
    custom = {"type": "custom", "custom": {"name": "f"}}
    entry = {"id": "functions.f:0", "type": "custom", "custom": {"name": "f", "input": "not JSON"}}
    assert checked(begun(custom), ([entry], "tool_calls")) == CLEAN


def test_renamed_properties_are_checked_under_the_clients_names() -> None:
    schema = {"type": "object", "properties": {"required": {"type": "integer"}}, "required": ["required"]}
    exchange = begun(tool(schema=schema), host="https://api.moonshot.ai/v1")
    (sent,) = exchange.request["tools"][0]["function"]["parameters"]["properties"]
    assert sent != "required"
    assert checked(exchange, ([call(f'{{"{sent}": 1}}')], "tool_calls")) == CLEAN
    exchange = begun(tool(schema=schema), host="https://api.moonshot.ai/v1")
    assert checked(exchange, ([call(f'{{"{sent}": "x"}}')], "tool_calls")) == MISMATCH
