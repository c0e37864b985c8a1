"""Rules that are learned from refusals: providers under a foreign address that refuse what Moonshot refuses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.gateway.scripted import Asked, Scripted
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import Reply, get, post

from moongate import sim
from moongate.payload import JsonObject
from moongate.sim import SimServer, model_name

USER: JsonObject = {"role": "user", "content": "hi"}
CALL = {"id": "functions.bash:0", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
HISTORY = [
    USER,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "functions.bash:0", "content": "ok"},
    USER,
]


def tool(name: str = "bash", **more: Any) -> JsonObject:
    parameters = {"type": "object", "properties": {"q": {"type": "string"}}, **more}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


# row → the request that it refuses, and the rule that answers the refusal
REFUSED: dict[str, tuple[JsonObject, str]] = {
    "needs-reasoning": ({"messages": HISTORY}, "reasoning"),
    "fixed-sampling": ({"temperature": 0.25}, "sampling"),
    "no-forced-choice": ({"tools": [tool()], "tool_choice": "required"}, "tool_choice"),
    "no-thinking-field": ({"thinking": {"type": "enabled"}}, "thinking"),
    "three-efforts": ({"reasoning_effort": "medium"}, "effort"),
    "schema-wall": ({"tools": [tool(properties={"q": {"type": "string", "enum": [1]}})]}, "schema"),
    "schema-wall-ultra": ({"tools": [tool(properties={"q": {"enum": ["a"], "format": "f"}})]}, "schema"),
    "name-wall": ({"tools": [tool("a.b")]}, "tool_name"),
    "no-max-tokens": ({"max_tokens": 50}, "max_tokens"),
    "no-max-completion-tokens": ({"max_completion_tokens": 50}, "max_completion_tokens"),
    "no-dynamic-tools": ({"messages": [{"role": "system", "tools": [tool()]}, USER]}, "message_tools"),
}
TWO = "fixed-sampling-no-thinking-field"
THREE = "fixed-sampling-no-thinking-field-no-max-tokens"
MODELS = [model_name("k2.5", row) for row in (*REFUSED, TWO, THREE)]


@dataclass(frozen=True, slots=True)
class Relay:
    gateway: RunningGateway
    simulator: SimServer

    def post(self, row: str, more: JsonObject, **headers: str) -> Reply:
        body = {"model": model_name("k2.5", row), "messages": [USER], **more}
        return post(f"{self.gateway.root}/v1/chat/completions", body, key=self.gateway.key, headers=headers)

    def asked(self, row: str) -> int:
        """How often the provider was asked for this model."""
        return sum(each.get("model") == model_name("k2.5", row) for each in self.simulator.seen)

    def metrics(self) -> str:
        return get(f"{self.gateway.root}/metrics", key=self.gateway.key).body.decode()


def relay_of(**options: Any) -> Iterator[Relay]:
    with Background() as background:
        simulator = background.start(sim.start())
        use = {"use": [["Kimi", {"family": "k2", **options}]]}
        provider = {"name": "relay", "api_base_url": simulator.url, "models": MODELS, "transformer": use}
        with run_gateway({"providers": [provider], "retries": {"backoff": 0.0}}) as gateway:
            yield Relay(gateway, simulator)


@pytest.fixture
def relay() -> Iterator[Relay]:
    yield from relay_of()


@pytest.fixture
def untaught() -> Iterator[Relay]:
    yield from relay_of(learnFromRefusals=False)


@pytest.fixture
def all_off() -> Iterator[Relay]:
    yield from relay_of(reasoningHistory="off", parameterRules="off", schemaRules="off")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_each_refusal_teaches_its_rule_once(relay: Relay, stream: bool) -> None:
    for row, (more, rule) in REFUSED.items():
        assert relay.post(row, {**more, "stream": stream}).status == 200, row
        assert relay.asked(row) == 2, row
        assert relay.post(row, {**more, "stream": stream}).status == 200, row
        assert relay.asked(row) == 3, row
        labels = f'rule="{rule}",provider="relay",model="{model_name("k2.5", row)}"'
        assert f"moongate_learned_rules_total{{{labels}}} 1\n" in relay.metrics(), row


@pytest.mark.parametrize("fixture", ["untaught", "all_off"])
def test_an_option_that_is_off_stays_off(fixture: str, request: pytest.FixtureRequest) -> None:
    relay: Relay = request.getfixturevalue(fixture)
    for row, (more, _) in REFUSED.items():
        assert relay.post(row, more).status == 400, row
        assert relay.asked(row) == 1, row
    assert "moongate_learned_rules_total{" not in relay.metrics()


BAD = {"temperature": 0.25, "thinking": {"type": "enabled"}, "max_tokens": 50}


def test_one_request_learns_two_rules_at_most(relay: Relay) -> None:
    assert relay.post(TWO, BAD).status == 200
    assert relay.asked(TWO) == 3
    assert relay.post(TWO, BAD).status == 200
    assert relay.asked(TWO) == 4
    refused = relay.post(THREE, BAD)
    assert refused.status == 400
    assert "max_tokens" in refused.json()["error"]["message"]
    assert relay.asked(THREE) == 3


def test_nothing_is_remembered_if_the_resend_is_refused(relay: Relay) -> None:
    relay.post(THREE, BAD)
    assert "moongate_learned_rules_total{" not in relay.metrics()


def test_a_request_that_the_rule_does_not_change_is_not_sent_again(relay: Relay) -> None:
    """The forced choice is refused here because of its form, which no rule changes."""
    odd = {"tools": [tool()], "tool_choice": {"type": "allowed_tools"}}
    assert relay.post("no-forced-choice", odd).status == 400
    assert relay.asked("no-forced-choice") == 1


async def play(asked: Asked) -> None:
    """Refuses a temperature with the message and the status in `user`."""
    message, status = asked.json["user"].rsplit("|", 1)
    if "temperature" in asked.json:
        asked.document({"error": {"message": message, "type": "invalid_request_error"}}, int(status))
    else:
        asked.document()


def post_scripted(message: str, status: int = 400, fallback: bool = False) -> tuple[Reply, list[Asked]]:
    with Background() as background:
        upstream = background.start(Scripted(play).start())
        use = {"use": ["Kimi"]}
        model = {"name": "m", "fallback": ["other"]} if fallback else "m"
        providers: list[JsonObject] = [
            {"name": "p", "api_base_url": upstream.url, "models": [model], "transformer": use},
            {"name": "q", "api_base_url": upstream.url, "models": ["other"], "transformer": use},
        ]
        with run_gateway({"providers": providers, "retries": {"backoff": 0.0}}) as gateway:
            body = {"model": "m", "messages": [USER], "temperature": 0.5, "user": f"{message}|{status}"}
            headers = {"idempotency-key": "k1", "x-session-id": "s1"}
            reply = post(f"{gateway.root}/v1/chat/completions", body, key=gateway.key, headers=headers)
        return reply, upstream.seen


REFUSAL = "invalid temperature: only 1 is allowed for this model"


def test_the_idempotency_key_is_not_sent_with_another_body() -> None:
    reply, seen = post_scripted(REFUSAL)
    assert reply.status == 200
    assert [each.header("idempotency-key") for each in seen] == ["k1", None]
    assert [each.header("x-session-id") for each in seen] == ["s1", "s1"]


@pytest.mark.parametrize("before", ["The user wrote: ", '"', "messages[0]: "])
def test_a_refusal_that_is_quoted_teaches_nothing(before: str) -> None:
    reply, seen = post_scripted(before + REFUSAL)
    assert (reply.status, len(seen)) == (400, 1)


@pytest.mark.parametrize("status", [422, 404, 413])
def test_only_a_400_teaches(status: int) -> None:
    reply, seen = post_scripted(REFUSAL, status)
    assert (reply.status, len(seen)) == (status, 1)


def test_a_fallback_is_asked_without_the_rules_of_another_target() -> None:
    """A 503 with these words is no refusal: the fallback gets the request as it is, and refuses it in turn."""
    reply, seen = post_scripted(REFUSAL, 503, fallback=True)
    assert (reply.status, len(seen)) == (503, 3)
    assert all("temperature" in each.json for each in seen)
