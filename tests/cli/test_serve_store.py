"""Stored keys, budgets and usage with a real gateway: `moongate serve` beside `moongate keys`, `teams` and `usage`."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import json
import os
import random
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.served import ASK, CLIENT, PATH, config, serving, write
from tests.gateway.scripted import Asked, Scripted, forever, whole
from tests.support.http import get, post

from moongate.cli import main
from moongate.cli.console import Console
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.record import UsageRow, names_in
from moongate.gateway.store.usage import UsageTable
from moongate.gateway.store.usage_report import usage_sums

PRICE = {"input": 1.0, "output": 10.0}


class Commands:
    """Runs `moongate` in the folder of a gateway."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "home" / "moongate.db"
        self._console = Console({"MOONGATE_HOME": str(folder / "home"), "UPSTREAM_KEY": "x"}, False)

    def run(self, *arguments: str) -> str:
        out = io.StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out):
            assert main([*arguments, "--store", str(self.database)], self._console) == 0
        return out.getvalue()

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))

    def rows(self) -> list[UsageRow]:
        database = open_database(str(self.database))
        with database.transaction():  # a gateway may be writing
            ids = [row[0] for row in database.rows("SELECT id FROM usage ORDER BY id")]
            found = sorted(UsageTable(database).find(ids))
            sums = usage_sums(database, ())
        assert (sums[0]["requests"] if sums else 0) == len(found)
        database.close()
        return found


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


def priced(upstream: Scripted, **more: Any) -> dict[str, Any]:
    made = config(upstream, **more)
    made["providers"][0]["models"] = [{"name": "m", "price": PRICE}, {"name": "other", "price": PRICE}]
    return made


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def ask(root: str, key: str, **more: Any) -> Any:
    return post(root + PATH, ASK | {"max_tokens": 100} | more, key=key)


def test_a_key_that_is_made_while_the_gateway_runs_is_good_at_once_and_its_usage_is_reported(
    commands: Commands, upstream: Scripted
) -> None:
    upstream.play = whole
    write(commands.folder, priced(upstream))
    with serving(commands.folder) as served:
        root = served.root()
        made = commands.json("keys", "create", "--name", "ada", "--rpm", "60")
        until(lambda: ask(root, made["key"]).status == 200)
        reply = ask(root, made["key"])
        assert ask(root, CLIENT).status == 200
        page = get(root + "/v1/key", key=made["key"]).json()
        assert (page["id"], page["limits"][0]["requests_per_minute"]["limit"]) == (made["id"], 60)
        assert served.stop() == 0
    rows = commands.rows()
    assert [names_in(row.label) for row in rows] == [
        *[(made["id"], "", "chat", "p", "m", "clean")] * 2, ("key1", "", "chat", "p", "m", "clean"),
    ]  # fmt: skip
    usage = reply.json()["usage"]
    assert rows[1].request == reply.headers["x-request-id"]
    assert (rows[1].input, rows[1].output, rows[1].estimated) == (usage["prompt_tokens"], usage["completion_tokens"], 0)
    assert rows[1].cost == usage["prompt_tokens"] + 10 * usage["completion_tokens"]
    usage = commands.json("usage", "--by", "key,model")
    assert [(row["key"], row["requests"]) for row in usage] == [("key1", 1), (made["id"], 2)]
    assert "ada" in commands.run("usage")
    assert commands.json("keys", "show", made["id"])["last_used"] is not None
    assert made["key"] not in commands.database.read_bytes().decode("latin-1")


def test_a_key_that_is_disabled_or_rotated_is_refused_within_seconds(commands: Commands, upstream: Scripted) -> None:
    upstream.play = whole
    # Without a limit of wrong keys: while one worker knows already and the other does not, many are sent.
    write(commands.folder, config(upstream, limits={"wrong_keys": 0}))
    first, second = commands.json("keys", "create"), commands.json("keys", "create")
    with serving(commands.folder, "--workers", "2") as served:
        root = served.root()
        assert [ask(root, made["key"]).status for made in (first, second)] == [200, 200]
        commands.run("keys", "disable", first["id"])
        rotated = commands.json("keys", "rotate", second["id"], "--grace", "1h")
        # Each worker looks by itself, perhaps between the two changes: each effect has its own time.
        in_grace: set[int] = set()

        def settled(key: str, status: int) -> bool:
            in_grace.update(ask(root, second["key"]).status for _ in range(4))
            return {ask(root, key).status for _ in range(8)} == {status}

        until(lambda: settled(first["key"], 401))
        until(lambda: settled(rotated["key"], 200))
        assert in_grace == {200}


def test_a_key_sees_and_uses_its_models_only(commands: Commands, upstream: Scripted) -> None:
    upstream.play = whole
    write(commands.folder, priced(upstream))
    team = commands.json("teams", "create", "--name", "blue", "--models", "m", "o*")
    made = commands.json("keys", "create", "--models", "m", "x*", "--team", team["id"])
    with serving(commands.folder) as served:
        root = served.root()
        assert ask(root, made["key"]).status == 200
        reply = ask(root, made["key"], model="p,other")
        assert (reply.status, reply.json()["error"]["code"]) == (403, "model_not_allowed")
        ids = [each["id"] for each in get(root + "/v1/models", key=made["key"]).json()["data"]]
        assert ids
        assert not any("other" in each for each in ids)
        assert any("other" in each["id"] for each in get(root + "/v1/models", key=CLIENT).json()["data"])


def test_a_budget_ends_with_a_quota_error_and_holds_after_a_restart(commands: Commands, upstream: Scripted) -> None:
    upstream.play = whole
    write(commands.folder, priced(upstream))
    team = commands.json("teams", "create", "--name", "blue", "--budget", "0.0025", "--reset", "month")
    made = commands.json("keys", "create", "--team", team["id"])
    with serving(commands.folder) as served:
        replies = [ask(served.root(), made["key"], max_tokens=10) for _ in range(120)]
        metrics = get(served.root() + "/metrics", key=CLIENT).body.decode()
        served.stop()
    assert 'moongate_limited_total{limit="budget"} ' in metrics
    good = [reply.status for reply in replies].index(429)
    assert good > 3
    refused = replies[good]
    assert {reply.status for reply in replies[good:]} == {429}
    warned = [reply.headers.get("x-moongate-budget-used") for reply in replies[:good]]
    assert warned[0] is None
    assert "80%" <= str(warned[-1]) <= "99%"
    assert refused.json()["error"]["type"] == "insufficient_quota"
    assert "resets on" in refused.json()["error"]["message"]
    assert refused.headers["x-should-retry"] == "false"
    rows = commands.rows()
    assert len(rows) == good
    assert sum(row.cost for row in rows) <= 2500
    with serving(commands.folder) as served:
        assert ask(served.root(), made["key"]).status == 429


def test_streams_are_counted_though_their_clients_do_not_ask_for_usage(commands: Commands, upstream: Scripted) -> None:
    async def play(asked: Asked) -> None:
        chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
        usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
        asked.begin_stream()
        asked.send(f"data: {json.dumps(chunk)}\n\n".encode())
        if asked.json.get("stream_options", {}).get("include_usage") is True:
            asked.send(f"data: {json.dumps(usage)}\n\n".encode())
        asked.send(b"data: [DONE]\n\n")
        asked.end_stream()

    upstream.play = play
    write(commands.folder, priced(upstream))
    with serving(commands.folder) as served:
        answers = [
            ask(served.root(), CLIENT, stream=True, **more).body
            for more in ({}, {"stream_options": {"include_usage": True}})
        ]
        assert served.stop() == 0
    assert [b"prompt_tokens" in answer for answer in answers] == [False, True]
    assert all(b"[DONE]" in answer for answer in answers)
    assert [(row.input, row.output, row.estimated) for row in commands.rows()] == [(7, 3, 0)] * 2


def test_requests_that_a_killed_worker_had_are_recorded_as_estimated(commands: Commands, upstream: Scripted) -> None:
    async def play(asked: Asked) -> None:
        await (forever(asked) if asked.json.get("stream") else whole(asked))

    upstream.play = play
    upstream.seen.clear()
    write(commands.folder, priced(upstream))
    with serving(commands.folder, "--workers", "2") as served:
        root = served.root()
        streams = [_begin_stream(root) for _ in range(6)]
        until(lambda: len(upstream.seen) == 6)
        for child in Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        until(lambda: len(commands.rows()) == 6)
        until(lambda: _answers(root))
        assert served.stop() == 0
        for stream in streams:
            stream.close()
    rows = commands.rows()
    assert [row.estimated for row in rows[:6]] == [1] * 6
    assert {(row.output, row.estimated) for row in rows[:6]} == {(100, 1)}
    assert all(row.estimated == 0 for row in rows[6:])


def _begin_stream(root: str, key: str = CLIENT) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(root.removeprefix("http://"), timeout=30)
    body = json.dumps(ASK | {"stream": True, "max_tokens": 100})
    connection.request("POST", PATH, body, {"authorization": f"Bearer {key}"})
    return connection


def _limits(root: str, key: str) -> Any:
    return get(root + "/v1/key", key=key).json()["limits"][0]


def _answers(root: str) -> bool:
    try:
        return bool(ask(root, CLIENT).status == 200)
    except OSError:
        return False


def test_no_reservation_of_a_killed_worker_is_left(commands: Commands, upstream: Scripted) -> None:
    """What it had reserved becomes spent as estimated, once, and its places are free again."""

    async def play(asked: Asked) -> None:
        await (forever(asked) if asked.json.get("stream") else whole(asked))

    upstream.play = play
    upstream.seen.clear()
    write(commands.folder, priced(upstream))
    made = commands.json("keys", "create", "--token-budget", "3000", "--concurrency", "4")
    with serving(commands.folder, "--workers", "2") as served:
        root = served.root()
        streams = [_begin_stream(root, made["key"]) for _ in range(4)]
        until(lambda: len(upstream.seen) == 4)
        assert ask(root, made["key"]).status == 429
        for child in Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
        until(lambda: _answers(root))
        until(lambda: len(commands.rows()) >= 4)
        until(lambda: ask(root, made["key"]).status == 200)
        # A request ends after its last byte: the client may ask for the page earlier.
        until(lambda: _limits(root, made["key"])["concurrency"]["in_flight"] == 0)
        page = _limits(root, made["key"])
        assert served.stop() == 0
        for stream in streams:
            stream.close()
    rows = [row for row in commands.rows() if names_in(row.label)[0] == made["id"]]
    assert [row.estimated for row in rows].count(1) == 4
    assert page["token_budget"]["spent"] == sum(row.input + row.cache_read + row.output for row in rows)


def test_no_request_is_lost_or_invented_while_workers_are_killed(commands: Commands, upstream: Scripted) -> None:
    """What the provider has billed and what the store says, request by request."""
    billed: dict[str, tuple[int, int]] = {}

    async def play(asked: Asked) -> None:
        number = asked.json["messages"][0]["content"]
        billed[number] = (random.randrange(1, 500), random.randrange(1, 500))
        await asyncio.sleep(random.random() / 50)
        usage = {"prompt_tokens": billed[number][0], "completion_tokens": billed[number][1]}
        message = {"role": "assistant", "content": "Hello."}
        asked.document({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage})

    upstream.play = play
    write(commands.folder, priced(upstream))
    answered: set[str] = set()
    stop = threading.Event()

    def client(root: str, number: int) -> None:
        count = 0
        while not stop.is_set():
            count += 1
            name = f"{number}-{count}"
            with contextlib.suppress(OSError, http.client.HTTPException):
                body = ASK | {"messages": [{"role": "user", "content": name}], "max_tokens": 100}
                reply = post(root + PATH, body, key=CLIENT, headers={"x-request-id": name})
                if reply.status == 200:
                    answered.add(name)

    with serving(commands.folder, "--workers", "2") as served:
        root = served.root()
        threads = [threading.Thread(target=client, args=(root, number)) for number in range(8)]
        for thread in threads:
            thread.start()
        for kills in range(1, 5):  # not by time: a busy machine answers few
            until(lambda: len(answered) > 30 * kills)  # noqa: B023
            children = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text().split()
            os.kill(int(random.choice(children)), signal.SIGKILL)
        until(lambda: len(answered) > 150)
        stop.set()
        for thread in threads:
            thread.join()
        assert served.stop() == 0
    rows = {row.request: row for row in commands.rows()}
    exact = {name: (row.input, row.output) for name, row in rows.items() if not row.estimated and row.status == 200}
    assert len(answered) > 100
    assert answered <= set(rows)
    # A kill between the last byte of an answer and its record leaves the estimate: one request of a worker at most.
    assert len(answered - set(exact)) <= 4
    assert all(billed[name] == tokens for name, tokens in exact.items())
    assert set(billed) <= set(rows)
    estimated = {name for name, row in rows.items() if row.estimated}
    assert len(estimated & answered) <= 4


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_store_that_cannot_be_used_is_reported(commands: Commands, upstream: Scripted, workers: str) -> None:
    upstream.play = whole
    (commands.folder / "home").mkdir()
    commands.database.write_bytes(b"this is no database" * 1000)
    write(commands.folder, config(upstream))
    with serving(commands.folder, "--workers", workers) as served:
        assert ask(served.root(), CLIENT).status == 200
        served.find(r"moongate.db is no SQLite file: restore a backup.*keys and usage are not stored", err=True)
        served.stop()
    write(commands.folder, config(upstream, store={"strict": True}))
    with serving(commands.folder, "--workers", workers) as served:
        assert served.end() == 2
        assert "'strict' forbids" in served.err


def test_a_store_that_is_off_leaves_no_trace(commands: Commands, upstream: Scripted) -> None:
    upstream.play = whole
    write(commands.folder, config(upstream, store="off"))
    with serving(commands.folder) as served:
        assert ask(served.root(), CLIENT).status == 200
        served.stop()
    assert not commands.database.exists()
