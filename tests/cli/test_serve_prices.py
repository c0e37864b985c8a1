"""Budgets in money where a price is not known, with a real gateway: nothing may be free because of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.cli.served import config, serving, write
from tests.cli.test_serve_store import PRICE, Commands, ask
from tests.gateway.scripted import COMPLETION, Asked, Scripted, whole
from tests.support.http import get

BUDGET = 0.002
CACHED = {"prompt_tokens": 100, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 60}}


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


def priced(upstream: Scripted, *models: Any, **more: Any) -> dict[str, Any]:
    made = config(upstream, retries={"retries": 0}, **more)
    made["providers"][0]["models"] = list(models)
    return made


def test_tokens_of_the_cache_whose_price_is_not_known_count_as_fresh_ones(
    commands: Commands, upstream: Scripted
) -> None:
    async def play(asked: Asked) -> None:
        asked.document(COMPLETION | {"usage": CACHED})

    upstream.play = play
    write(commands.folder, priced(upstream, {"name": "m", "price": PRICE}))
    made = commands.json("keys", "create", "--budget", str(BUDGET))
    with serving(commands.folder) as served:
        replies = [ask(served.root(), made["key"], max_tokens=20) for _ in range(12)]
        page = get(served.root() + "/v1/key", key=made["key"]).json()
        served.stop()
    assert [reply.status for reply in replies] == [200] * 6 + [429] * 6  # 300 of 2000 millionths each
    assert page["limits"][0]["budget"]["spent"] == 0.0018
    assert [row.cost for row in commands.rows()] == [300] * 6
    with serving(commands.folder) as served:
        assert ask(served.root(), made["key"], max_tokens=20).status == 429


@pytest.mark.parametrize("strategy", ["", "latency"], ids=["fallback", "route"])
@pytest.mark.parametrize("unpriced", ["m", "other"])
def test_a_budget_in_money_uses_only_the_targets_whose_price_is_known(
    commands: Commands, upstream: Scripted, strategy: str, unpriced: str
) -> None:
    async def play(asked: Asked) -> None:
        if asked.json["model"] == unpriced:
            return await whole(asked)
        return asked.document({"error": {"message": "down"}}, 500)

    upstream.play = play
    models: list[dict[str, Any]] = [{"name": "m", "fallback": "p,other"}, {"name": "other"}]
    models = [each if each["name"] == unpriced else each | {"price": PRICE} for each in models]
    routes = {"routes": {"kimi": {"targets": ["p,m", "p,other"], "strategy": strategy}}} if strategy else {}
    write(commands.folder, priced(upstream, *models, **routes))
    budgeted, free = commands.json("keys", "create", "--budget", "1"), commands.json("keys", "create")
    with serving(commands.folder) as served:
        asked = {"model": "kimi" if strategy else "m"}
        assert ask(served.root(), free["key"], **asked).status == 200
        assert {ask(served.root(), budgeted["key"], **asked).status for _ in range(6)} <= {500, 502, 503}
        reply = ask(served.root(), budgeted["key"], model=f"p,{unpriced}")
        served.stop()
    if unpriced == "other":
        assert (reply.status, reply.json()["error"]["code"]) == (403, "price_unknown")
