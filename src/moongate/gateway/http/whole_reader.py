"""Reads whole answers of a provider and writes them for the client's front."""

from __future__ import annotations

from moongate.chat.contracts import Dialect, Exchange
from moongate.chat.event_reader import web_page
from moongate.errors import BadUpstream, GatewayError
from moongate.gateway.http.further_tries import FurtherTries
from moongate.gateway.http.offload import OFFLOAD_ANSWER, takes_long
from moongate.gateway.http.provider_answer import content_type_of, end_of
from moongate.gateway.server.activity import Activity
from moongate.native.exchange import NativeExchange
from moongate.net.contract import Response
from moongate.payload import JsonObject, dumps, object_of
from moongate.pipeline.non_stream import reply_of


class WholeReader:
    """For one request. `usage` is that of the last answer that was read."""

    __slots__ = ("_activity", "_client_request", "_dialect", "_limit", "_size", "usage")

    def __init__(self, dialect: Dialect, client_request: JsonObject, activity: Activity, limit: int) -> None:
        self._dialect = dialect
        self._client_request = client_request
        self._activity = activity
        self._limit = limit  # bytes of an answer
        self._size = 0  # of the last answer
        self.usage: JsonObject | None = None

    async def read_best(self, response: Response, exchange: Exchange, tries: FurtherTries) -> bytes:
        """The answer for the client, after the further tries that the exchange wants. Raises GatewayError."""
        data = await self.read(response, exchange, is_long=tries.is_long)
        try:
            while (sending := tries.send_next(exchange, self._size)) is not None:
                if (further := await sending) is None:
                    break
                data = await self.read(further, exchange, is_long=tries.is_long)
        except GatewayError:  # a broken try is the last one: the best answer so far leaves, as in a stream
            return data
        return data

    async def read(self, response: Response, exchange: Exchange, *, is_long: bool = False) -> bytes:
        """The answer for the client: the best one, if there were others before. Raises GatewayError.

        `is_long`: the request is, whose tools are looked at for the answer's calls.
        """
        content_type, limit = content_type_of(response), self._limit
        try:
            if (data := response.at_once(limit)) is None:
                data = await response.read(limit, end_of(content_type, limit))
            self._size = len(data)
            if len(data) > OFFLOAD_ANSWER or takes_long(data) or (is_long and b"tool_calls" in data):
                return await self._activity.in_thread(self._encoded, data, content_type, exchange)
            return self._encoded(data, content_type, exchange)
        except BaseException:
            response.close()
            raise

    def _encoded(self, data: bytes, content_type: str, exchange: Exchange) -> bytes:
        if isinstance(exchange, NativeExchange):
            return self._native(data, content_type, exchange)
        reply, unchanged = reply_of(exchange, data, content_type)
        usage = reply.get("usage")
        self.usage = usage if isinstance(usage, dict) else None
        if not self._dialect.passes_bytes_through:
            return dumps(self._dialect.encode(reply, self._client_request))
        return data if unchanged else dumps(reply)

    def _native(self, data: bytes, content_type: str, exchange: NativeExchange) -> bytes:
        """An answer in the client's own dialect: its bytes, unless something was mended."""
        found = object_of(data)
        if found is None:
            raise web_page(content_type) or BadUpstream("the provider's answer is not a JSON object")
        reply = exchange.whole(found)
        self.usage = exchange.usage
        return data if reply is found else dumps(reply)
