"""What a server may do with requests for speed, where it knows the transformers: share tools, forget what was sent."""

from __future__ import annotations

from moongate.chat.contracts import Exchange
from moongate.chat.fast import KnownTools, unshare_tools
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import JsonObject
from moongate.pipeline.chain import Chain


def takes_shared_tools(chain: Chain) -> bool:
    """May its requests have tools in common? Kimi's transformer changes nothing in place; others may."""
    return all(isinstance(each, KimiTransformer) for each in chain.transformers)


def unshare_tools_for(chain: Chain, request: JsonObject) -> None:
    """Give a request that shares its tools a copy of its own, if the chain might change them in place."""
    if isinstance(request.get("tools"), KnownTools) and not takes_shared_tools(chain):
        unshare_tools(request)


def forget_request(exchange: Exchange) -> None:
    """The request was sent, and reading the answer needs nothing of it: it is as large as many answers."""
    if isinstance(exchange, KimiExchange):
        exchange.request = {}
