"""moongate makes Kimi behave.

The library behind the gateway, usable without it:

>>> transformer = KimiTransformer.from_config(model="moonshotai/Kimi-K2-Instruct")
>>> exchange = transformer.begin({"messages": [{"role": "user", "content": "What time is it?"}]})
>>> call = {"id": "call_1", "type": "function", "function": {"name": "clock", "arguments": ""}}
>>> answer = {"choices": [{"index": 0, "message": {"tool_calls": [call]}, "finish_reason": "stop"}]}
>>> exchange.reply(answer)["choices"][0]["message"]["tool_calls"]
[{'id': 'functions.clock:0', 'type': 'function', 'function': {'name': 'clock', 'arguments': '{}'}}]
>>> [note.kind for note in exchange.notes]
['id', 'arguments', 'finish_reason']
"""

from __future__ import annotations

from moongate.chat.contracts import Exchange, Note, Transformer
from moongate.chat.items import Chunk, Done, Failure, Item, Opaque
from moongate.errors import BadRequest, BadUpstream, ConfigError, GatewayError
from moongate.kimi.options import KimiOptions, ToolTokens
from moongate.kimi.schema import normalise_schema
from moongate.kimi.transformer import KimiTransformer
from moongate.pipeline.base import BaseExchange, BaseTransformer
from moongate.pipeline.chain import Chain
from moongate.pipeline.reply import read_reply
from moongate.pipeline.session import Session

__all__ = [
    "BadRequest",
    "BadUpstream",
    "BaseExchange",
    "BaseTransformer",
    "Chain",
    "Chunk",
    "ConfigError",
    "Done",
    "Exchange",
    "Failure",
    "GatewayError",
    "Item",
    "KimiOptions",
    "KimiTransformer",
    "Note",
    "Opaque",
    "Session",
    "ToolTokens",
    "Transformer",
    "normalise_schema",
    "read_reply",
]
