"""Deferred tools of the messages and responses fronts: K3 gets them where they are loaded, other models at the top."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import post

from moongate.payload import JsonObject

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}}
MAIL = {"type": "function", "function": {"name": "mail", "parameters": SCHEMA}}


def messages_body(*, loaded: bool) -> JsonObject:
    """A conversation of the messages front, with the client's search."""
    reference = {"type": "tool_reference", "tool_name": "mail"}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": [reference] if loaded else "nothing"}
    return {
        "max_tokens": 9,
        "tools": [
            {"name": "search", "input_schema": SCHEMA},
            {"name": "mail", "input_schema": SCHEMA, "defer_loading": True},
        ],
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"to": "x"}}],
            },
            {"role": "user", "content": [result]},
        ],
    }


def responses_body(*, loaded: bool) -> JsonObject:
    """The same on the responses front."""
    mail = {"type": "function", "name": "mail", "parameters": SCHEMA}
    return {
        "tools": [
            {"type": "tool_search", "execution": "client", "parameters": SCHEMA},
            {**mail, "defer_loading": True},
        ],
        "input": [
            {"role": "user", "content": "go"},
            {"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {"to": "x"}},
            {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": [mail] if loaded else []},
        ],
    }


FRONTS = {"/v1/messages": (messages_body, "search"), "/v1/responses": (responses_body, "tool_search")}


@dataclass(frozen=True, slots=True)
class Stage:
    gateway: RunningGateway
    provider: Scripted

    def sent(self, path: str, model: str, *, loaded: bool) -> Any:
        """What the provider gets."""
        reply = post(self.gateway.root + path, {"model": model, **FRONTS[path][0](loaded=loaded)}, key=self.gateway.key)
        assert reply.status == 200, reply.body
        return self.provider.seen[-1].json


@pytest.fixture(scope="module", params=["moonshot", "generic"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    with Background() as background:
        provider = background.start(Scripted().start())
        kimi = {"use": [["Kimi", {"host": request.param}]]}
        models = {"name": "p", "api_base_url": provider.url, "models": ["kimi-k3", "kimi-k2.6"], "transformer": kimi}
        plain = {"name": "q", "api_base_url": provider.url, "models": ["other"]}
        with run_gateway({"providers": [models, plain]}) as gateway:
            yield Stage(gateway, provider)


@pytest.mark.parametrize("path", FRONTS)
def test_k3_gets_the_tool_where_it_is_loaded(stage: Stage, path: str) -> None:
    sent = stage.sent(path, "kimi-k3", loaded=True)
    assert [tool["function"]["name"] for tool in sent["tools"]] == [FRONTS[path][1]]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool", "system"]
    assert sent["messages"][-1] == {"role": "system", "tools": [MAIL]}


@pytest.mark.parametrize("path", FRONTS)
@pytest.mark.parametrize("model", ["kimi-k2.6", "other"])
def test_other_models_get_it_at_the_top(stage: Stage, path: str, model: str) -> None:
    sent = stage.sent(path, model, loaded=True)
    assert [tool["function"]["name"] for tool in sent["tools"]] == [FRONTS[path][1], "mail"]
    assert sent["tools"][1] == MAIL
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool"]


@pytest.mark.parametrize("path", FRONTS)
@pytest.mark.parametrize("model", ["kimi-k3", "kimi-k2.6", "other"])
def test_before_it_is_loaded_nobody_gets_it(stage: Stage, path: str, model: str) -> None:
    sent = stage.sent(path, model, loaded=False)
    assert [tool["function"]["name"] for tool in sent["tools"]] == [FRONTS[path][1]]
    assert [message["role"] for message in sent["messages"]] == ["user", "assistant", "tool"]
