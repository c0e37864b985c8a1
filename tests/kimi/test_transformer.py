"""The Kimi transformer: frozen, made from options."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from tests.kimi.answering import REQUEST, answer, call

from moongate import BadRequest, ConfigError, KimiOptions, KimiTransformer
from moongate.chat.contracts import TakesLong
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.notes import Notes
from moongate.kimi.property_exchange import PropertyRestoringExchange


def test_it_is_frozen() -> None:
    transformer = KimiTransformer()
    with pytest.raises(FrozenInstanceError):
        transformer.options = KimiOptions()  # type: ignore[misc]


def test_the_model_and_the_host_are_read_from_their_names() -> None:
    transformer = KimiTransformer.from_config(None, model="kimi-k3", base_url="https://api.moonshot.ai/v1")
    assert transformer.model is not None
    assert transformer.host is not None
    assert (transformer.model.family.name, transformer.host.name) == ("k3", "moonshot")


def test_options_alone_are_enough() -> None:
    body = answer({"tool_calls": [call("x")]}, "tool_calls")
    k2, k3 = KimiTransformer(), KimiTransformer(KimiOptions(family="k3"))
    assert k2.begin(REQUEST).reply(body)["choices"][0]["message"]["tool_calls"][0]["id"] == "functions.bash:0"
    assert k3.begin(REQUEST).reply(body) is body


def test_a_wrong_option_is_refused_with_its_path() -> None:
    with pytest.raises(ConfigError, match=r"here\.manualToolParsing"):
        KimiTransformer.from_config({"manualToolParsing": 1}, model="kimi-k2", path="here")


def test_a_bad_request_is_refused() -> None:
    with pytest.raises(BadRequest):
        KimiTransformer().begin({"messages": "odd"})


def test_equal_options_make_equal_transformers() -> None:
    assert KimiTransformer() == KimiTransformer()
    assert KimiTransformer() != KimiTransformer(KimiOptions(repair_arguments=True))


def test_renamed_properties_are_turned_back_in_the_answer() -> None:
    tool = {"function": {"name": "bash", "parameters": {"type": "object", "properties": {"required": {}}}}}
    transformer = KimiTransformer.from_config(model="kimi-k2-0905", base_url="https://api.moonshot.ai/v1")
    exchange = transformer.begin({"messages": [], "tools": [tool]})
    assert "required" not in exchange.request["tools"][0]["function"]["parameters"]["properties"]
    assert type(exchange) is PropertyRestoringExchange


def test_an_event_loop_is_told_of_long_work_that_a_thread_then_does() -> None:
    properties = {f"p{at}": {"type": "string", "description": f"{at}"} for at in range(500)}
    tool = {"function": {"name": "bash", "parameters": {"type": "object", "properties": properties}}}
    transformer = KimiTransformer.from_config(model="kimi-k2-0905", base_url="https://api.moonshot.ai/v1")
    request = {"messages": [], "tools": [tool], "tool_choice": "auto"}
    with pytest.raises(TakesLong):
        transformer.begin_quickly(request)
    assert transformer.begin(request).request is request
    assert transformer.begin_quickly(request).request is request  # it is known now


def test_a_transformer_learns_from_refusals_and_stays_as_it_is() -> None:
    plain = KimiTransformer.from_config({}, model="relayed", base_url="https://relay.example")
    assert plain.recognise_refusal("invalid temperature: only 1 is allowed") == "sampling"
    learned = plain.with_rules({"sampling"})
    request = {"messages": [], "temperature": 0.5}
    assert learned.begin(request).request == {"messages": []}
    assert plain.begin(request).request is request


def test_what_is_known_of_model_and_host() -> None:
    k3 = KimiTransformer.from_config(model="kimi-k3", base_url="https://api.moonshot.ai/v1")
    k2 = KimiTransformer.from_config(model="kimi-k2.6", base_url="https://relay.example")
    assert (k3.takes_message_tools, k3.streams_usage) == (True, True)
    assert (k2.takes_message_tools, k2.streams_usage) == (False, False)


@pytest.mark.parametrize(("guard", "tries_again"), [("repair", False), ("retry", True)])
def test_the_guard_mends_or_asks_again(guard: str, tries_again: bool) -> None:
    transformer = KimiTransformer.from_config({"guard": guard}, model="kimi-k2")
    damaged = answer({"tool_calls": [call("functions.bash:0", "bash", '{"command":7}')]}, "tool_calls")
    for begin in (transformer.begin, transformer.begin_quickly):
        exchange = begin(REQUEST)
        exchange.reply(damaged)
        assert exchange.verdict.kinds == ("schema_mismatch",)
        assert (exchange.next_request() is not None) is tries_again


def test_a_transformer_without_its_guard() -> None:
    guarded = KimiTransformer.from_config({"preset": "strict"}, model="kimi-k2")
    plain = guarded.unguarded
    assert type(plain.begin(REQUEST)) is KimiExchange
    assert (plain.options.guard, plain.options.repair_arguments) == ("off", True)
    assert plain.unguarded is plain


def test_rules_for_other_apis_are_those_of_model_and_host() -> None:
    moonshot = KimiTransformer.from_config(model="kimi-k2.6", base_url="https://api.moonshot.ai/v1").native_rules
    elsewhere = KimiTransformer.from_config(model="kimi-k2.6", base_url="https://relay.example").native_rules
    assert moonshot.schema_writer(Notes()) is not None
    assert elsewhere.schema_writer(Notes()) is None
