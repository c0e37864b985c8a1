"""The same few requests to a target whose vendor speaks Anthropic's messages API or OpenAI's responses API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from moongate.chat.event_reader import web_page
from moongate.errors import BadUpstream
from moongate.native.exchange import NativeExchange, rules_in
from moongate.native.session import NativeSession
from moongate.payload import JsonObject, object_of
from moongate.verify.client import VendorAnswer, VendorClient
from moongate.verify.probe import MAX_TOKENS, QUESTION, TOOL, Probe, ProbeReport, ProbeStep
from moongate.wire.frames import DOCUMENT_LIMIT

_FUNCTION: Final[JsonObject] = TOOL["function"]
_RESULT: Final = '{"centimetres": 214}'


async def probe_native(client: VendorClient, further: Sequence[VendorClient] = ()) -> ProbeReport:
    """What `probe` asks, in the vendor's own API. Refusals teach nothing there."""
    return await NativeProbe(client, further).run()


class NativeProbe(Probe):
    """The loop is asked for whole answers, because nothing is translated that could be put together from a stream."""

    async def _first_turn(self, name: str, *, streamed: bool) -> None:
        await self._ask(name, {**self._first_request(), **({"stream": True} if streamed else {})})

    async def _loop(self) -> None:
        request = self._first_request()
        answer = await self._ask("tool loop, first turn", request)
        if answer is not None:
            await self._ask("tool loop, second turn", self._second_request(request, answer), call_wanted=False)

    def _first_request(self) -> JsonObject:
        name, description, schema = (_FUNCTION[each] for each in ("name", "description", "parameters"))
        if self._front == "messages":
            tool = {"name": name, "description": description, "input_schema": schema}
            return {"model": self._model, "max_tokens": MAX_TOKENS, "messages": [QUESTION], "tools": [tool]}
        tool = {"type": "function", **_FUNCTION}
        return {"model": self._model, "max_output_tokens": MAX_TOKENS, "input": [QUESTION], "tools": [tool]}

    def _second_request(self, request: JsonObject, answer: JsonObject) -> JsonObject:
        if self._front == "messages":
            content = answer["content"]
            results = [
                {"type": "tool_result", "tool_use_id": call.get("id"), "content": _RESULT}
                for call in _of_type(content, "tool_use")
            ]
            said = [{"role": "assistant", "content": content}, {"role": "user", "content": results}]
            return {**request, "messages": [*request["messages"], *said]}
        output = answer["output"]
        results = [
            {"type": "function_call_output", "call_id": call.get("call_id"), "output": _RESULT}
            for call in _of_type(output, "function_call")
        ]
        return {**request, "input": [*request["input"], *output, *results]}

    @property
    def _front(self) -> str:
        return self._client.target.front

    async def _ask(self, name: str, request: JsonObject, *, call_wanted: bool = True) -> JsonObject | None:
        """The whole answer that a client gets, {} for a stream; None if it is not as it should be."""
        rules = rules_in(self._client.target.chain.transformers)
        exchange = NativeExchange(self._front, request, {}, rules)
        answer = await self._client.ask(exchange.request)
        if answer.status != 200:
            self._refuse(name, answer)
            return None
        try:
            left = _streamed(exchange, answer) if request.get("stream") else _whole(exchange, answer)
        except BadUpstream as error:
            return self._failed(name, error.message)
        self._count(exchange.notes, exchange.usage, exchange.request, left)
        check = exchange.schema_check()  # None: there is no call
        verdict = exchange.verdict if check is None else check()
        if verdict.worth not in ("clean", "repaired"):
            return self._failed(name, ", ".join(verdict.kinds) or verdict.worth)
        if call_wanted and check is None:
            return self._failed(name, "it made no call")
        self.report.steps.append(ProbeStep(name, True, verdict.worth, round(answer.first_byte * 1000)))
        return left


def _whole(exchange: NativeExchange, answer: VendorAnswer) -> JsonObject:
    body = object_of(answer.body)
    if body is None:
        raise web_page(answer.content_type) or BadUpstream("the provider's answer is not a JSON object")
    return exchange.whole(body)


def _streamed(exchange: NativeExchange, answer: VendorAnswer) -> JsonObject:
    session = NativeSession(exchange, answer.content_type, DOCUMENT_LIMIT)
    session.feed(answer.body)
    session.close()
    if isinstance(session.failure, BadUpstream):
        raise session.failure
    return {}


def _of_type(items: list[Any], kind: str) -> list[JsonObject]:
    return [item for item in items if isinstance(item, dict) and item.get("type") == kind]
