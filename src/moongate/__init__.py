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

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moongate.chat.base import BaseExchange, BaseTransformer
from moongate.chat.contracts import Exchange, Note, Transformer
from moongate.chat.items import Chunk, Done, Failure, Item, Opaque
from moongate.chat.verdict import Verdict
from moongate.errors import BadRequest, BadUpstream, ConfigError, GatewayError
from moongate.kimi.options import KimiOptions
from moongate.kimi.schema import normalise_schema
from moongate.kimi.tool_tokens import ToolTokens
from moongate.pipeline.chain import Chain
from moongate.pipeline.non_stream import read_reply
from moongate.switches import FAST

if TYPE_CHECKING:
    from moongate.gateway.app import Gateway
if TYPE_CHECKING or not FAST:
    from moongate.pipeline.session import Session
else:
    from moongate.fast.session import FastSession as Session
if TYPE_CHECKING or FAST:
    from moongate.kimi.transformer import KimiTransformer
else:
    from moongate.kimi.transformer import PlainKimiTransformer as KimiTransformer

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
    "Verdict",
    "asgi",
    "normalise_schema",
    "read_reply",
]


def asgi(config: Mapping[str, Any] | str | Path) -> Gateway:
    """The gateway as an ASGI application, for use inside a program. Raises ConfigError.

    `config` is a configuration or the path of its file. It needs the gateway's own dependencies.
    """
    app: Gateway = import_module("moongate.gateway.asgi").asgi_app(config)  # not before: the library needs orjson alone
    return app
