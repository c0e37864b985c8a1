"""Tools in common and requests that are forgotten: only where the transformers are known."""

from __future__ import annotations

from moongate import BaseTransformer, KimiTransformer
from moongate.chat.base import BaseExchange
from moongate.fast.requests import forget_request, takes_shared_tools
from moongate.kimi.transformer import PlainKimiTransformer
from moongate.pipeline.chain import Chain

REQUEST = {"model": "kimi-k2", "messages": [{"role": "user", "content": "Hi"}]}


def test_only_transformers_that_change_nothing_in_place_share_tools() -> None:
    assert takes_shared_tools(Chain())
    assert takes_shared_tools(Chain([KimiTransformer(), PlainKimiTransformer()]))
    assert not takes_shared_tools(Chain([KimiTransformer(), BaseTransformer()]))


def test_a_request_is_forgotten_where_the_answer_needs_nothing_of_it() -> None:
    known, unknown = KimiTransformer().begin(REQUEST), BaseExchange(REQUEST)
    forget_request(known)
    forget_request(unknown)
    assert known.request == {}
    assert unknown.request == REQUEST
