"""How bodies are read and answers streamed: the fast way, unless `MOONGATE_FAST=0` turned it off."""

from __future__ import annotations

from typing import TypeAlias

from moongate.chat.contracts import Encoder, Exchange
from moongate.fast.session import FastSession
from moongate.gateway.http.fast import read_known_object
from moongate.gateway.http.json_body import read_object
from moongate.native.exchange import NativeExchange
from moongate.native.session import NativeSession
from moongate.payload import JsonObject
from moongate.pipeline.session import Session
from moongate.switches import FAST

AnySession: TypeAlias = Session | NativeSession


def new_session(
    exchange: Exchange, content_type: str, encoder: Encoder, limit: int, document_limit: int, *, fast: bool = FAST
) -> AnySession:
    """`limit` is for one event, `document_limit` for an answer that comes as one document."""
    if isinstance(exchange, NativeExchange):
        return NativeSession(exchange, content_type, limit)
    return (FastSession if fast else Session)(exchange, content_type, encoder, limit, document_limit)


def read_body(body: bytes, depth: int, values: int, *, fast: bool = FAST) -> JsonObject:
    """The JSON object in a request's body. Raises BadRequest."""
    return read_known_object(body, depth, values) if fast else read_object(body, depth, values)
