"""moongate makes Kimi behave.

The library behind the gateway, usable without it:

>>> from moongate import KimiTransformer
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
from typing import TYPE_CHECKING, Any, Final

from moongate.switches import FAST

if TYPE_CHECKING:
    from pathlib import Path

    from moongate.chat.base import BaseExchange, BaseTransformer
    from moongate.chat.contracts import Exchange, Note, Transformer
    from moongate.chat.items import Chunk, Done, Failure, Item, Opaque
    from moongate.chat.verdict import Verdict
    from moongate.errors import BadRequest, BadUpstream, ConfigError, GatewayError
    from moongate.gateway.app import Gateway
    from moongate.kimi.options import KimiOptions
    from moongate.kimi.schema import normalise_schema
    from moongate.kimi.tool_tokens import ToolTokens
    from moongate.kimi.transformer import KimiTransformer
    from moongate.pipeline.chain import Chain
    from moongate.pipeline.non_stream import read_reply
    from moongate.pipeline.session import Session

__version__: Final = "0.1.0"

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
    "__version__",
    "asgi",
    "normalise_schema",
    "read_reply",
]

# Where each name is. A module is imported when a name of it is first used: `import moongate` costs next to nothing.
_PLACES: Final = {
    **dict.fromkeys(("BaseExchange", "BaseTransformer"), "chat.base"),
    **dict.fromkeys(("Exchange", "Note", "Transformer"), "chat.contracts"),
    **dict.fromkeys(("Chunk", "Done", "Failure", "Item", "Opaque"), "chat.items"),
    **dict.fromkeys(("BadRequest", "BadUpstream", "ConfigError", "GatewayError"), "errors"),
    "Chain": "pipeline.chain",
    "KimiOptions": "kimi.options",
    "KimiTransformer": "kimi.transformer",
    "Session": "fast.session" if FAST else "pipeline.session",
    "ToolTokens": "kimi.tool_tokens",
    "Verdict": "chat.verdict",
    "normalise_schema": "kimi.schema",
    "read_reply": "pipeline.non_stream",
}
# Names that differ from those in their modules.
_ORIGINALS: Final = {"Session": "FastSession"} if FAST else {"KimiTransformer": "PlainKimiTransformer"}


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"module 'moongate' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"moongate.{place}"), _ORIGINALS.get(name, name))
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def asgi(config: Mapping[str, Any] | str | Path) -> Gateway:
    """The gateway as an ASGI application, for use inside a program. Raises ConfigError.

    `config` is a configuration or the path of its file. It needs the gateway's own dependencies.
    """
    app: Gateway = import_module("moongate.gateway.asgi").asgi_app(config)  # not before: the library needs orjson alone
    return app
