"""Keys and teams as people write them."""

from __future__ import annotations

import pytest

from moongate.errors import BadRequest
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.entities import StoredKey, Team
from moongate.gateway.store.fields import (
    MAX_LIMIT,
    changed_key,
    changed_team,
    key_view,
    parse_duration,
    parse_time,
    team_view,
    time_text,
)

NOW = 1_763_424_000.5
KEY = StoredKey("key_1", b"digest", "mg-abcde", created=1_763_424_000)


def test_fields_become_limits() -> None:
    given = {
        "name": "ada", "models": ["kimi-*"], "rpm": 60, "tpm": 1000, "concurrency": 4, "budget": 2.5,
        "token_budget": 9, "reset": "7d", "disabled": True, "metadata": {"a": 1}, "team": "team_1", "expires": "30d",
    }  # fmt: skip
    key = changed_key(KEY, given, NOW)
    assert key.limits == LimitSet(60, 1000, 4, 2_500_000, 9, "7d")
    assert (key.name, key.models, key.disabled, key.metadata, key.team) == (
        "ada",
        ("kimi-*",),
        True,
        {"a": 1},
        "team_1",
    )
    assert key.expires == int(NOW) + 30 * 86_400
    view = key_view(key)
    assert {name: view[name] for name in given if name != "expires"} == {
        name: value for name, value in given.items() if name != "expires"
    }
    assert "digest" not in view
    none = dict.fromkeys(("name", "rpm", "tpm", "concurrency", "budget", "token_budget", "team", "expires"))
    empty = changed_key(key, none, NOW)
    assert (empty.limits, empty.name, empty.team, empty.expires) == (LimitSet(reset="7d"), "", None, None)
    assert changed_key(key, {}, NOW) == key


def test_names_may_be_of_any_script() -> None:
    for name in ("میزبان\u200cها", "👩\u200d💻", "\ue000", "ＡＢＣ"):
        assert changed_key(KEY, {"name": name, "models": [name]}, NOW).name == name


def test_a_team_has_a_name() -> None:
    team = changed_team(Team("team_1", ""), {"name": "blue", "rpm": 5})
    assert (team_view(team)["name"], team_view(team)["rpm"]) == ("blue", 5)
    with pytest.raises(BadRequest, match="needs a name"):
        changed_team(Team("team_1", ""), {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rpm", -1), ("rpm", 1.5), ("rpm", True), ("rpm", MAX_LIMIT + 1), ("tpm", "5"), ("token_budget", []),
        ("budget", -0.1), ("budget", "5"), ("budget", True), ("budget", float("nan")), ("reset", "year"), ("reset", 5),
        ("disabled", 1), ("metadata", []), ("metadata", {"a": "x" * 5000}), ("name", 5), ("name", "x" * 201),
        ("name", "a\nb"), ("name", "a\u202eb"), ("name", "\udcff"), ("name", "a\u2028"), ("models", [""]),
        ("models", "m"), ("models", [1]), ("models", ["x"] * 201), ("models", ["a\x00"]),
        ("expires", "soon"), ("expires", 5), ("expires", "9999-99-99"), ("team", 5), ("colour", "red"), ("digest", "x"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(name: str, value: object) -> None:
    with pytest.raises(BadRequest) as caught:
        changed_key(KEY, {name: value}, NOW)
    assert caught.value.path == name


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2026-12-31", 1_798_675_200),
        ("2026-12-31T12:00:00Z", 1_798_718_400),
        ("2026-12-31T12:00:00+02:00", 1_798_711_200),
        ("90s", int(NOW) + 90),
        ("12h", int(NOW) + 43_200),
    ],
)
def test_times(text: str, seconds: int) -> None:
    assert parse_time("expires", text, NOW) == seconds


def test_durations_and_texts() -> None:
    assert parse_duration("grace", "15m") == 900
    with pytest.raises(BadRequest, match="a duration like"):
        parse_duration("grace", "0d")
    assert time_text(1_763_424_000) == "2025-11-18T00:00:00Z"
    assert time_text(None) is None
