"""Exchanges are put under the guard by an option."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
from tests.kimi.answering import K2
from tests.kimi.guard.guarding import REQUEST

from moongate import KimiTransformer
from moongate.kimi.exchange import KimiExchange
from moongate.kimi.guard.begin import guarded
from moongate.kimi.guard.exchange import GuardedExchange


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({}, KimiExchange),
        ({"preset": "agent"}, KimiExchange),
        ({"preset": "strict"}, GuardedExchange),
        ({"preset": "strict", "guard": "off"}, KimiExchange),
        ({"guard": "repair"}, GuardedExchange),
    ],
)
def test_the_option_decides(options: dict[str, Any], kind: type) -> None:
    transformer = KimiTransformer.from_config(options, model=K2)
    assert type(transformer.begin(REQUEST)) is kind
    assert type(transformer.begin_quickly(REQUEST)) is kind
    assert type(transformer.unguarded.begin(REQUEST)) is KimiExchange
    assert type(transformer.begin_unguarded(REQUEST)) is KimiExchange


def test_the_request_may_be_any_mapping() -> None:
    exchange = KimiTransformer.from_config({"repairArguments": True}, model=K2).begin_unguarded(REQUEST)
    found = guarded(MappingProxyType(REQUEST), exchange, None, takes_seed=False)
    assert found.request is exchange.request
    plain = KimiTransformer.from_config(None, model=K2).begin_unguarded(REQUEST)
    assert guarded(REQUEST, plain, None, takes_seed=False).request is plain.request
