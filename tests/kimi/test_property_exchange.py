from __future__ import annotations

from typing import Any

import pytest
from tests.kimi.answering import DONE, answer, call, chunk, deltas_of, fed, reasons_of

from moongate import KimiTransformer
from moongate.chat.items import Chunk, Failure, Opaque
from moongate.errors import BadUpstream
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.property_exchange import PropertyRestoringExchange

PARAMETERS = {"type": "object", "properties": {"required": {"type": "string"}, "q": {"type": "string"}}}
REQUEST: dict[str, Any] = {
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": PARAMETERS}}],
}


def begun(**options: Any) -> tuple[KimiExchange, str]:
    """An exchange with Moonshot, and the name under which `required` is sent."""
    transformer = KimiTransformer.from_config(options, model="kimi-k2-0905", base_url="https://api.moonshot.ai/v1")
    exchange = transformer.begin_unguarded(REQUEST)
    sent, _ = exchange.request["tools"][0]["function"]["parameters"]["properties"]
    return exchange, sent


def arguments_of(items: Any) -> str:
    return "".join(
        entry["function"].get("arguments", "") for delta in deltas_of(items) for entry in delta.get("tool_calls", ())
    )


def test_only_requests_with_renamed_properties_need_it() -> None:
    assert type(begun()[0]) is PropertyRestoringExchange
    assert type(begun(schemaRules="off")[0]) is KimiExchange


def test_the_client_never_sees_the_sent_name_in_a_whole_answer() -> None:
    exchange, sent = begun()
    assert sent.startswith("required_")
    body = exchange.reply(answer({"tool_calls": [call(arguments=f'{{"{sent}":"x"}}')]}, "tool_calls"))
    assert body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"required":"x"}'


@pytest.mark.parametrize("body", [{}, {"choices": [5]}, answer({"content": "Hi"})])
def test_other_answers_are_the_same_object(body: Any) -> None:
    exchange, _ = begun()
    assert exchange.reply(body) is body


@pytest.mark.parametrize("size", [1, 5, 100])
def test_the_client_never_sees_the_sent_name_in_a_stream(size: int) -> None:
    exchange, sent = begun()
    text = f'{{"{sent}":"x","q":"{sent[:12]}"}}'
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    items = fed(
        exchange,
        chunk({"tool_calls": [{"index": 0, **call(arguments="")}]}),
        *(chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in pieces),
        chunk({}, "tool_calls"),
        DONE,
    )
    assert arguments_of(items) == f'{{"required":"x","q":"{sent[:12]}"}}'
    assert items[-1] is DONE


def test_a_call_that_is_cut_keeps_all_its_characters_before_the_finish() -> None:
    exchange, sent = begun()
    start = chunk({"tool_calls": [{"index": 0, **call(arguments=f'{{"{sent[:5]}')}]})
    items = fed(exchange, start, chunk({}, "length"), DONE)
    assert arguments_of(items) == f'{{"{sent[:5]}'
    assert reasons_of(items)[-1] == "length"


def test_what_is_held_back_of_the_content_leaves_before_a_call() -> None:
    schema = {"name": "n", "schema": PARAMETERS}
    request = {**REQUEST, "response_format": {"type": "json_schema", "json_schema": schema}}
    transformer = KimiTransformer.from_config(model="kimi-k2-0905", base_url="https://api.moonshot.ai/v1")
    calling = chunk({"content": "", "tool_calls": [{"index": 0, **call()}]})
    items = fed(
        transformer.begin_unguarded(request), chunk({"content": 'say "'}), calling, chunk({}, "tool_calls"), DONE
    )
    assert [delta["content"] for delta in deltas_of(items) if delta.get("content")] == ["say ", '"']
    assert next(at for at, delta in enumerate(deltas_of(items)) if "tool_calls" in delta) == 2


def test_a_broken_stream_keeps_what_came() -> None:
    exchange, sent = begun()
    start = chunk({"tool_calls": [{"index": 0, **call(arguments=f'{{"{sent[:5]}')}]})
    items = fed(exchange, start, Failure(BadUpstream("cut")))
    assert arguments_of(items) == f'{{"{sent[:5]}'
    assert isinstance(items[-1], Failure)


def test_other_items_pass_as_they_came() -> None:
    exchange, _ = begun()
    text, comment, odd, empty = chunk({"content": "Hi"}), Opaque(b": x\n\n"), Chunk({"choices": [5]}), Chunk({"x": 1})
    assert fed(exchange, text, comment, odd, empty) == [text, comment, odd, empty]


def test_the_assembled_message_has_the_original_names_too() -> None:
    exchange, sent = begun(assembleToolDeltas=True)
    items = fed(
        exchange,
        chunk({"tool_calls": [{"index": 0, **call(arguments=f'{{"{sent}":"x"}}')}]}),
        chunk({}, "tool_calls"),
        DONE,
    )
    choices = [choice for item in items if isinstance(item, Chunk) for choice in item.payload["choices"]]
    messages = [choice["message"] for choice in choices if "message" in choice]
    assert [message["tool_calls"][0]["function"]["arguments"] for message in messages] == ['{"required":"x"}']


def test_the_sent_names_tell_which_tool_a_header_without_a_name_means() -> None:
    exchange, sent = begun(manualToolParsing=True)
    text = f'<|tool_call_begin|>0<|tool_call_argument_begin|>{{"{sent}": "x"}}<|tool_call_end|>'
    left = exchange.reply(answer({"content": text}))["choices"][0]["message"]["tool_calls"]
    assert left == [call("functions.bash:0", "bash", '{"required": "x"}')]
