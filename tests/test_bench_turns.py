"""The turn of an agent: its size, and that it is the same conversation on every front."""

from __future__ import annotations

import json

import pytest
from bench import turns
from bench.contenders import providers
from bench.load import Job, Requests
from bench.stages import FRONTS, stages
from bench.upstream import ARGUMENTS

from moongate import KimiTransformer
from moongate.chat.contracts import Dialect
from moongate.dialects.fronts import MESSAGES, RESPONSES


@pytest.mark.parametrize("size", turns.SIZES)
@pytest.mark.parametrize("front", turns.FRONTS)
def test_a_turn_has_the_size_that_it_is_named_by(size: int, front: str) -> None:
    assert len(turns.body(front, size, "text-100-5")) == pytest.approx(size * 1000, rel=0.025)


def test_the_headline_has_200_messages_and_60_tools() -> None:
    body = json.loads(turns.body("chat", turns.HEADLINE, "m"))
    assert len(body["messages"]) == 200
    assert len({tool["function"]["name"] for tool in body["tools"]}) == 60


@pytest.mark.parametrize("front", [MESSAGES, RESPONSES], ids=lambda front: front.name)
def test_every_front_has_the_same_conversation(front: Dialect) -> None:
    translated = front.decode(json.loads(turns.body(front.name, 100, "m")))
    chat = json.loads(turns.body("chat", 100, "m"))
    assert translated["messages"] == chat["messages"]
    named = [(tool["function"]["name"], tool["function"]["parameters"]) for tool in chat["tools"]]
    assert [(tool["function"]["name"], tool["function"]["parameters"]) for tool in translated["tools"]] == named


def test_the_ids_are_foreign_and_the_schemas_need_the_rules() -> None:
    exchange = KimiTransformer.from_config(turns.RULES, model="text-100-5").begin(
        json.loads(turns.body("chat", 100, "text-100-5"))
    )
    assert sum(note.kind == "schema" for note in exchange.notes) > 20
    assert exchange.request["messages"][2]["tool_calls"][0]["id"] == "functions.read_file:0"


def test_the_call_that_ends_an_answer_passes_the_guard() -> None:
    """Else a row with the guard would measure three requests."""
    body = json.loads(turns.body("chat", 100, "call-100-5"))
    exchange = KimiTransformer.from_config({**turns.RULES, "guard": "retry"}, model="call-100-5").begin(body)
    function = {"name": "read_file", "arguments": ARGUMENTS}
    call = {"id": "functions.read_file:40", "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    exchange.reply({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    assert exchange.verdict.kinds == ()
    assert exchange.next_request() is None


def test_each_request_has_a_number_of_its_own_where_it_is_counted() -> None:
    body = turns.body("chat", 100, "m")
    requests = Requests(Job("/", body, {}, counted=[turns.NEWEST, turns.REVISION]), port=1)
    first, second = (json.loads(requests.next().partition(b"\r\n\r\n")[2]) for _ in range(2))
    assert first["messages"][:-1] == second["messages"][:-1]
    assert first["messages"][-1] != second["messages"][-1]
    assert all(one != other for one, other in zip(first["tools"], second["tools"], strict=True))


@pytest.mark.parametrize("front", FRONTS, ids=lambda front: front.name)
def test_every_stage_of_a_turn_runs_alone(front: Dialect) -> None:
    found = {name: stage() for name, stage in stages(front, 100).items()}
    assert found["nested too deep?"] is False
    assert found["all of it"] == found["objects to JSON"]


def test_requests_that_are_not_counted_are_the_same_bytes() -> None:
    requests = Requests(Job("/", "{}", {"x-a": "1"}), port=1)
    assert requests.next() == requests.next()


def test_every_variant_has_a_provider_with_its_options() -> None:
    options = {each["name"]: each["transformer"]["use"][0][1] for each in providers("http://127.0.0.1:1/v1")}
    for variant in (*turns.VARIANTS, turns.Variant("x")):
        assert options[variant.provider] == {**turns.RULES, **variant.options}
    assert turns.Variant("guarded", options={"guard": True}).provider == "turn-guard"
