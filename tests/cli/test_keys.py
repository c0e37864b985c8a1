"""`moongate keys`, `teams`, `usage`, `store` and `prices`, on a store without a gateway."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.store.rows import usage_row

from moongate.cli import main
from moongate.cli.console import Console
from moongate.cli.tables import bar, print_csv, print_table
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.journal import Journal, segments
from moongate.gateway.store.usage import UsageTable


class Commands:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys
        self._console = Console({"MOONGATE_HOME": str(folder)}, False)

    def run(self, *arguments: str, code: int = 0) -> str:
        assert main(list(arguments), self._console) == code
        found = self._capsys.readouterr()
        return found.err if code == 2 else found.out

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))


@pytest.fixture
def commands(folder: Path, capsys: pytest.CaptureFixture[str]) -> Commands:
    return Commands(folder, capsys)


def test_the_life_of_a_key(commands: Commands) -> None:
    team = commands.json("teams", "create", "--name", "blue", "--rpm", "9")
    secret = commands.run(
        "keys", "create", "--name", "ada", "--team", team["id"], "--budget", "2.5", "--reset", "month"
    )
    assert secret.startswith("mg-")
    (key,) = commands.json("keys", "list", "--team", team["id"])
    assert (key["name"], key["budget"], key["reset"], secret.startswith(key["label"])) == ("ada", 2.5, "month", True)
    assert "ada" in commands.run("keys", "list")
    changed = commands.json("keys", "change", key["id"], "--models", "a", "b*", "--tpm", "5", "--expires", "2099-01-01")
    assert (changed["models"], changed["tpm"], changed["name"]) == (["a", "b*"], 5, "ada")
    assert commands.json("keys", "disable", key["id"])["disabled"] is True
    assert commands.json("keys", "enable", key["id"])["disabled"] is False
    assert commands.json("keys", "rotate", key["id"], "--grace", "1h")["key"] != secret.strip()
    assert "ada" in commands.run("keys", "show", key["id"])
    assert "still has keys" in commands.run("teams", "delete", team["id"], code=2)
    commands.run("keys", "delete", key["id"])
    assert commands.json("teams", "change", team["id"], "--name", "green")["name"] == "green"
    assert commands.json("teams", "disable", team["id"])["disabled"] is True
    assert commands.json("teams", "enable", team["id"])["disabled"] is False
    assert "green" in commands.run("teams", "show", team["id"])
    commands.run("teams", "delete", team["id"])
    assert (commands.run("keys", "list"), commands.json("teams", "list")) == ("none\n", [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["keys", "show", "key_x"], "there is no key 'key_x'"),
        (["keys", "create", "--team", "team_x"], "team: there is no team 'team_x'"),
        (["keys", "create", "--models", ""], "models: expected a list of at most 200 names or patterns"),
        (["keys", "create", "--reset", "year"], "reset: expected 'day'"),
        (["keys", "create", "--expires", "soon"], "expires: expected a date"),
        (["teams", "create"], "name: a team needs a name"),
        (["usage", "--by", "colour"], "--by: 'colour' is none of"),
        (["usage", "--from", "yesterday"], "--from: expected a day"),
        (["keys", "list", "--store", "off"], "the store is off"),
        (["store", "check", "--store", "nowhere.db"], "there is no store nowhere.db"),
        (["store", "check", "--store", "postgres//host/db"], "the store's URL is none: postgresql://"),
        (["keys", "list", "--store", "postgresql:/host/db"], "the store's URL is none: postgresql://"),
        (["keys", "list", "--store", "mysql://x"], "mysql:// is no kind of store"),
    ],
)
def test_what_is_wrong_is_reported(commands: Commands, arguments: list[str], words: str) -> None:
    assert words in commands.run(*arguments, code=2)
    assert not list(commands.folder.glob("nowhere*"))


def test_what_a_key_has_is_shown_and_taken_away(commands: Commands) -> None:
    team = commands.json("teams", "create", "--name", "blue", "--budget", "0.002")
    limits = ["--team", team["id"], "--budget", "2.5", "--token-budget", "5", "--expires", "1d", "--models", "kimi-*"]
    made = commands.json("keys", "create", *limits)
    shown = commands.run("keys", "disable", made["id"])
    assert all(word in shown for word in ("kimi-*", "2.50", "token budget", "disabled", "yes"))
    assert "0.0020" in commands.run("teams", "list")
    none = [word for name in ("budget", "token-budget", "team", "expires") for word in (f"--{name}", "none")]
    changed = commands.json("keys", "change", made["id"], *none)
    assert [changed[name] for name in ("budget", "token_budget", "team", "expires")] == [None] * 4


def test_a_budget_of_nothing_is_shown(commands: Commands) -> None:
    key = commands.json("keys", "create", "--name", "ada", "--budget", "0", "--token-budget", "0")
    head, line = commands.run("keys", "show", key["id"]).splitlines()
    assert ("budget  token budget" in head, line.split()[-3:]) == (True, ["0.00", "0", "never"])
    assert "concurrency" not in head
    assert "disabled" not in head


def test_usage_in_three_forms(commands: Commands) -> None:
    database = open_database(str(commands.folder / "moongate.db"))
    rows = [usage_row(n, key=f"key_{n % 2}", day=20_775 + n % 3, cost=500_000 * (1 + n % 2)) for n in range(6)]
    UsageTable(database).add(rows)
    database.close()
    rows = commands.json("usage", "--by", "key,day", "--from", "2026-11-18", "--to", "2026-11-19")
    assert [(row["key"], row["day"], row["dollars"]) for row in rows] == [
        ("key_0", "2026-11-18", 0.5), ("key_0", "2026-11-19", 0.5),
        ("key_1", "2026-11-18", 1.0), ("key_1", "2026-11-19", 1.0),
    ]  # fmt: skip
    lines = commands.run("usage", "--by", "key", "--csv").splitlines()
    assert lines[0].startswith("key,requests,failed")
    assert lines[1].split(",")[:2] == ["key_0", "3"]
    table = commands.run("usage").splitlines()
    assert table[2].endswith("█" * 20)
    assert table[1].endswith(" " + "█" * 10)
    assert commands.run("store", "check").startswith("ok ")
    exported = [json.loads(line) for line in commands.run("store", "export").splitlines()]
    assert [line["client_key"] for line in exported if line["type"] == "usage"][:2] == ["key_0", "key_1"]
    commands.run("store", "backup", str(commands.folder / "copy.db"))
    assert "already" in commands.run("store", "backup", str(commands.folder / "copy.db"), code=2)
    assert len(commands.json("usage", "--store", str(commands.folder / "copy.db"))) == 2


def test_usage_has_what_a_gateway_that_runs_no_more_has_left_in_its_journal(commands: Commands) -> None:
    folder = commands.folder / "moongate.db.journal"
    journal = Journal(folder)
    ended, open_still = usage_row(1, model="ended"), usage_row(2, model="open", estimated=1)
    journal.end(-1, ended.id, ended.label, ended.request.encode(), ended[3:])
    journal.begin(open_still.id, open_still.label, open_still.request.encode(), open_still[3:])
    os.close(journal._lock)  # as if it had died
    rows = commands.json("usage", "--by", "model")
    assert [(row["model"], row["requests"], row["estimated"]) for row in rows] == [("ended", 1, 0), ("open", 1, 1)]
    assert segments(folder) == []


def test_prices_of_the_table_and_of_a_configuration(commands: Commands) -> None:
    rows = {row["model"]: row for row in commands.json("prices") if row["host"] == "api.moonshot.ai"}
    assert (rows["kimi-k2.6"]["input"], rows["kimi-k2.6"]["cache_write"]) == ("0.95", "?")
    (line,) = [each for each in commands.run("prices").splitlines() if each.split()[1] == "kimi-k2.6"]
    assert " ".join(line.split()).endswith(f"{rows['kimi-k2.6']['source']} {rows['kimi-k2.6']['date']}")  # uncut
    models = [{"name": "kimi-k3", "price": {"input": 1, "output": 2}}, "kimi-k2.5", "kimi-new"]
    provider = {"name": "p", "api_base_url": "https://api.moonshot.ai/v1", "models": models, "api_key": "x" * 20}
    (commands.folder / "config.json").write_text(json.dumps({"providers": [provider], "store": "off"}))
    found = commands.json("prices")
    assert [(row["input"], row["source"][:7]) for row in found] == [
        ("1.00", "the con"),
        ("0.60", "public "),
        ("?", "unknown"),
    ]
    assert "kimi-new" in commands.run("prices")
    assert "the store is off" in commands.run("keys", "list", code=2)
    provider["models"] = [{"name": "m", "price": {"inputs": 1}}]
    (commands.folder / "config.json").write_text(json.dumps({"providers": [provider]}))
    assert "'inputs' is no kind of token" in commands.run("prices", code=2)


def test_tables_are_straight_with_names_of_any_script(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([{"name": "王小明", "team": "a"}, {"name": "Zoe\u0308", "team": "b"}], ("name", "team"))
    assert capsys.readouterr().out.splitlines() == ["name    team", "王小明  a", "Zoe\u0308     b"]
    print_table([{"name": "王" * 30, "team": "a"}, {"name": "a\tb\u200d", "team": "b"}], ("name", "team"))
    assert capsys.readouterr().out.splitlines()[1:] == ["王" * 19 + "…  a", f"a\\tb\u200d{' ' * 37}b"]


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([{"a": "x" * 50, "b": 1234, "c": None, "d": ["m", "n"]}], ("a", "b", "c", "d"))
    assert capsys.readouterr().out.splitlines()[1] == "x" * 39 + "…  1,234  m, n"
    print_csv([{"a": "=1+1", "b": None}], ("a", "b"))
    assert capsys.readouterr().out == "a,b\n'=1+1,\n"
    assert [bar(share) for share in (0, 0.0001, 0.5, 1)] == ["", "▏", "█" * 10, "█" * 20]


def test_the_audit_log_shows_who_changed_what(commands: Commands) -> None:
    made = commands.json("keys", "create", "--name", "ada")
    commands.run("keys", "disable", made["id"])
    changes = commands.json("store", "audit")
    assert [(line["actor"], line["action"], line["subject"]) for line in changes] == [
        ("cli", "change", made["id"]), ("cli", "create", made["id"]),
    ]  # fmt: skip
    assert len(commands.json("store", "audit", "--limit", "1")) == 1
    assert '{"disabled":[false,true]}' in commands.run("store", "audit")


def test_a_backup_is_restored_into_an_empty_store_only(commands: Commands) -> None:
    made = commands.json("keys", "create", "--name", "ada")
    commands.run("store", "backup", str(commands.folder / "copy.db"))
    other = str(commands.folder / "other.db")
    journal, row = Journal(commands.folder / "other.db.journal"), usage_row(1)
    journal.end(-1, row.id, row.label, row.request.encode(), row[3:])  # what the damaged store has not taken
    journal.close()
    assert "0 requests" in commands.run("store", "restore", str(commands.folder / "copy.db"), "--store", other)
    assert [row["requests"] for row in commands.json("usage", "--store", other)] == [1]
    assert [key["id"] for key in commands.json("keys", "list", "--store", other)] == [made["id"]]
    refused = commands.run("store", "restore", str(commands.folder / "copy.db"), "--store", other, code=2)
    assert "is not empty" in refused
    assert "there is no file" in commands.run("store", "restore", "nowhere.db", "--store", other, code=2)
