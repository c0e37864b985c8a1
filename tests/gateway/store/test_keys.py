"""Keys and teams: made, changed, rotated, deleted, with a line in the audit log for each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from moongate.errors import BadRequest, NotFound
from moongate.gateway.limits.limit_set import LimitSet
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.entities import StoredKey, Team, digest_of, may_use, new_secret
from moongate.gateway.store.keys import KeyStore

NOW = 1_763_424_000


@pytest.fixture
def keys(database: Database) -> KeyStore:
    return KeyStore(database, clock=lambda: NOW)


def wanted(name: str = "ada", **changes: object) -> StoredKey:
    return replace(StoredKey("", b"", "", name), **changes)  # type: ignore[arg-type]


def test_a_key_is_shown_once_and_found_by_its_digest(keys: KeyStore) -> None:
    limits = LimitSet(60, 1000, 4, 5_000_000, 9, "month")
    key, secret = keys.create_key(
        wanted(models=("kimi-*",), limits=limits, metadata={"a": [1]}, expires=NOW + 9), "cli"
    )
    assert secret.startswith("mg-")
    assert len(secret) == 46
    assert key.digest == digest_of(secret)
    assert secret.startswith(key.label)
    assert len(key.label) == 8
    assert keys.key(key.id) == key
    assert keys.list_keys() == [key]
    assert (key.limits, key.created, key.metadata, key.expires) == (limits, NOW, {"a": [1]}, NOW + 9)


def test_a_key_is_valid_until_it_expires_or_is_disabled(keys: KeyStore) -> None:
    key, secret = keys.create_key(wanted(expires=NOW + 10), "cli")
    digest = digest_of(secret)
    assert key.is_valid(digest, NOW + 9)
    assert not key.is_valid(digest, NOW + 10)
    assert not key.is_valid(digest_of("mg-other"), NOW)
    assert not keys.change_key(key.id, lambda old: replace(old, disabled=True), "cli").is_valid(digest, NOW)


def test_a_rotated_key_keeps_its_id_and_its_old_text_for_a_while(keys: KeyStore) -> None:
    key, old = keys.create_key(wanted(), "cli")
    rotated, new = keys.rotate_key(key.id, 60, "cli")
    assert (rotated.id, rotated.identity) == (key.id, key.identity)
    assert rotated.is_valid(digest_of(new), NOW + 1000)
    assert rotated.is_valid(digest_of(old), NOW + 59)
    assert not rotated.is_valid(digest_of(old), NOW + 60)
    again, _ = keys.rotate_key(key.id, 0, "cli")
    assert not again.is_valid(digest_of(new), NOW)
    assert again.previous_digest is None


def test_a_change_keeps_what_cannot_be_changed(keys: KeyStore) -> None:
    key, _ = keys.create_key(wanted(), "cli")
    wished = replace(key, name="bob", digest=b"x", label="x", created=0, models=("a",))
    changed = keys.change_key(key.id, lambda _: wished, "admin")
    assert changed == replace(key, name="bob", models=("a",))
    assert keys.key(key.id) == changed


def test_changes_that_come_at_once_do_not_undo_each_other(keys: KeyStore, store_url: str) -> None:
    """A gateway changes a key while another one, over a connection of its own, gives it a new text."""
    key, old = keys.create_key(wanted(), "cli")
    secrets: list[str] = []

    def rotate() -> None:
        other = open_database(store_url)
        secrets.append(KeyStore(other).rotate_key(key.id, 60, "cli")[1])
        other.close()

    rotating = threading.Thread(target=rotate)

    def change(before: StoredKey) -> StoredKey:
        rotating.start()
        rotating.join(1)  # it waits for the end of this change
        return replace(before, name="bob")

    keys.change_key(key.id, change, "admin")
    rotating.join()
    found = keys.key(key.id)
    assert found.name == "bob"
    assert (found.digest, found.previous_digest) == (digest_of(secrets[0]), digest_of(old))
    assert keys.revision() == 3


def test_teams_hold_keys(keys: KeyStore) -> None:
    team = keys.create_team(Team("", "blue", ("kimi-*",), LimitSet(concurrency=3)), "cli")
    assert keys.team(team.id) == team
    assert keys.teams() == [team]
    key, _ = keys.create_key(wanted(team=team.id), "cli")
    other, _ = keys.create_key(wanted("bob"), "cli")
    assert keys.list_keys(team=team.id) == [key]
    assert keys.list_keys(after=min(key.id, other.id)) == [max((key, other), key=lambda each: each.id)]
    with pytest.raises(BadRequest, match="still has keys"):
        keys.delete_team(team.id, "cli")
    keys.delete_key(key.id, "cli")
    changed = keys.change_team(team.id, lambda old: replace(old, name="green", disabled=True), "cli")
    assert keys.team(team.id) == changed
    keys.delete_team(team.id, "cli")
    assert keys.teams() == []
    assert team.identity != key.identity


def test_what_is_not_there(keys: KeyStore) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: keys.key("key_x"),
        lambda: keys.delete_key("key_x", "cli"),
        lambda: keys.rotate_key("key_x", 0, "cli"),
        lambda: keys.change_key("key_x", lambda old: old, "cli"),
        lambda: keys.team("team_x"),
        lambda: keys.delete_team("team_x", "cli"),
    ]
    for attempt in attempts:
        with pytest.raises(NotFound):
            attempt()
    with pytest.raises(BadRequest, match="no team 'team_x'"):
        keys.create_key(wanted(team="team_x"), "cli")
    assert keys.list_keys() == []


def test_a_team_has_a_name_of_its_own(keys: KeyStore) -> None:
    keys.create_team(Team("", "blue"), "cli")
    green = keys.create_team(Team("", "green"), "cli")
    with pytest.raises(BadRequest, match="a team named 'blue' already"):
        keys.create_team(Team("", "blue"), "cli")
    with pytest.raises(BadRequest, match="a team named 'blue' already"):
        keys.change_team(green.id, lambda old: replace(old, name="blue"), "cli")


def test_every_change_is_in_the_audit_log_and_none_that_failed(keys: KeyStore) -> None:
    assert keys.revision() == 0
    key, secret = keys.create_key(wanted(), "cli")
    keys.change_key(key.id, lambda old: replace(old, limits=LimitSet(rpm=5), models=("a",)), "admin")
    keys.rotate_key(key.id, 60, "cli")
    with pytest.raises(NotFound):
        keys.delete_key("key_x", "cli")
    keys.delete_key(key.id, "admin")
    log = keys.audit()
    assert [(line["action"], line["actor"], line["subject"]) for line in log] == [
        ("delete", "admin", key.id), ("rotate", "cli", key.id), ("change", "admin", key.id), ("create", "cli", key.id),
    ]  # fmt: skip
    assert log[2]["detail"]["models"] == [[], ["a"]]
    assert log[2]["detail"]["limits"][1]["rpm"] == 5
    assert log[0]["time"] == NOW
    assert keys.revision() == 4
    assert keys.audit(limit=1, before=log[0]["id"]) == [log[1]]
    assert secret not in str(log)


@pytest.mark.parametrize(
    ("patterns", "model", "allowed"),
    [
        ((), "anything", True),
        (("kimi-k3",), "kimi-k3", True),
        (("kimi-k3",), "kimi-k3.1-pro", False),
        (("kimi-*", "glm"), "kimi-k2.5", True),
        (("moonshot,*",), "moonshot,kimi-k3", True),
        (("Kimi-*",), "kimi-k3", False),
        (("kimi-k3[1m]",), "kimi-k3[1m]", True),
        (("kimi-k3[1m]", "*[!x]"), "kimi-k31", False),
        (("kimi-*[?m]",), "kimi-k3[1m]", True),
        (("\\d+.(a|b)",), "\\d+.(a|b)", True),
    ],
)
def test_allow_lists(patterns: tuple[str, ...], model: str, allowed: bool) -> None:
    assert may_use(patterns, model) is allowed


def test_secrets_are_long_and_different() -> None:
    assert len({new_secret() for _ in range(100)}) == 100
