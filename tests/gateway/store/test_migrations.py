"""From every older version to the newest, and never from a newer one."""

from __future__ import annotations

import re

import pytest
from tests.gateway.store.rows import usage_row

from moongate.gateway.store import migrations
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.database import Database
from moongate.gateway.store.entities import StoredKey
from moongate.gateway.store.errors import StoreCorrupt, StoreTooNew
from moongate.gateway.store.keys import KeyStore
from moongate.gateway.store.migrations import migrate, statements, steps
from moongate.gateway.store.usage import UsageTable
from moongate.gateway.store.usage_report import usage_sums

NEWEST = len(steps("sqlite"))


def open_at(url: str, version: int, monkeypatch: pytest.MonkeyPatch) -> Database:
    """A store as an older moongate made it."""
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "steps", lambda kind: steps(kind)[:version])
        return open_database(url)


def test_both_databases_have_the_same_steps() -> None:
    assert len(steps("postgres")) == NEWEST


def test_both_databases_have_the_same_columns() -> None:
    for ours, theirs in zip(steps("sqlite"), steps("postgres"), strict=True):
        columns = [re.findall(r"^    (\w+) [A-Z]", script, re.MULTILINE) for script in (ours, theirs)]
        assert columns[0] == columns[1]


@pytest.mark.parametrize("version", range(NEWEST))
def test_an_older_store_opens_with_what_is_in_it(store_url: str, version: int, monkeypatch: pytest.MonkeyPatch) -> None:
    old = open_at(store_url, version, monkeypatch)
    key = KeyStore(old).create_key(StoredKey("", b"", "", "ada"), "cli")[0] if version >= 1 else None
    old.close()
    database = open_database(store_url)
    assert database.rows("SELECT version FROM schema_version") == [(NEWEST,)]
    keys = KeyStore(database)
    assert keys.list_keys() == ([key] if key else [])
    UsageTable(database).add([usage_row(1)])
    assert usage_sums(database, ())[0]["requests"] == 1
    assert database.check() == []
    database.close()


def test_a_newer_store_is_refused_and_left_alone(store_url: str) -> None:
    database = open_database(store_url)
    database.run("UPDATE schema_version SET version = ?", (NEWEST + 7,))
    with pytest.raises(
        StoreTooNew, match=rf"has version {NEWEST + 7}, and this moongate knows versions up to {NEWEST}"
    ):
        open_database(store_url)
    assert database.rows("SELECT version FROM schema_version") == [(NEWEST + 7,)]
    database.close()


def test_two_versions_in_one_store_are_damage(database: Database) -> None:
    database.run("INSERT INTO schema_version VALUES (1)")
    with pytest.raises(StoreCorrupt):
        migrate(database)


def test_a_step_that_fails_leaves_the_old_version(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = open_at(store_url, 1, monkeypatch)
    broken = (*steps(old.kind)[:1], "CREATE TABLE half (id INTEGER);\nCREATE TABLE team (id INTEGER);\n")
    monkeypatch.setattr(migrations, "steps", {old.kind: broken}.__getitem__)
    with pytest.raises(Exception, match="team"):
        migrate(old)
    assert old.rows("SELECT version FROM schema_version") == [(1,)]
    assert KeyStore(old).list_keys() == []
    old.run("CREATE TABLE half (id INTEGER)")  # it is not there
    old.close()


def test_scripts_are_cut_into_statements() -> None:
    script = "-- a;\nCREATE TABLE a (\n    b TEXT\n);\n\nINSERT INTO a VALUES ('x;y');\n"
    assert statements(script) == ["CREATE TABLE a (\n    b TEXT\n)", "INSERT INTO a VALUES ('x;y')"]
