"""The usage of streams, which the gateway needs for its store: asked for, recorded, and not shown unasked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.served import ASK, CLIENT, PATH, config, serving, write
from tests.gateway.scripted import DONE, Asked, Scripted, chunk
from tests.support.http import post

from moongate.gateway.store.connect import open_database
from moongate.gateway.store.record import UsageRow
from moongate.gateway.store.usage import UsageTable

USAGE = {"prompt_tokens": 70, "completion_tokens": 20, "total_tokens": 90}
USAGE_CHUNK = b"data: " + json.dumps({"id": "c", "choices": [], "usage": USAGE}).encode() + b"\n\n"
TEXT = chunk("Hello.") + chunk("", "stop")


async def stream(asked: Asked) -> None:
    """A provider that tells the usage if it is asked for, as OpenAI's API does."""
    asked.begin_stream()
    options = asked.json.get("stream_options") or {}
    asked.send(TEXT + (USAGE_CHUNK if options.get("include_usage") else b"") + DONE)
    asked.end_stream()


def recorded(folder: Path) -> list[UsageRow]:
    database = open_database(str(folder / "home" / "moongate.db"))
    with database.transaction():
        ids = [row[0] for row in database.rows("SELECT id FROM usage ORDER BY id")]
        found = sorted(UsageTable(database).find(ids))
    database.close()
    return found


@pytest.mark.parametrize("asks", [False, True], ids=["unasked", "asked"])
@pytest.mark.parametrize("use", [["Kimi"], []], ids=["Kimi", "no transformer"])
def test_the_usage_of_a_stream_is_recorded(tmp_path: Path, upstream: Scripted, asks: bool, use: list[Any]) -> None:
    upstream.play = stream
    made = config(upstream)
    made["providers"][0]["transformer"] = {"use": use}
    write(tmp_path, made)
    more = {"stream_options": {"include_usage": True}} if asks else {}
    with serving(tmp_path) as served:
        reply = post(served.root() + PATH, {**ASK, "stream": True, **more}, key=CLIENT)
        served.stop()
    assert reply.body == TEXT + (USAGE_CHUNK if asks else b"") + DONE
    assert [(row.input, row.output, row.estimated) for row in recorded(tmp_path)] == [(70, 20, 0)]


def test_moonshot_is_not_asked_because_it_tells_the_usage_anyway(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = stream
    made = config(upstream)
    made["providers"][0]["transformer"] = {"use": [["Kimi", {"host": "moonshot"}]]}
    write(tmp_path, made)
    with serving(tmp_path) as served:
        reply = post(served.root() + PATH, {**ASK, "stream": True}, key=CLIENT)
        served.stop()
    assert reply.body == TEXT + DONE
    assert "stream_options" not in upstream.seen[-1].json


def test_without_a_store_nothing_is_asked(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = stream
    write(tmp_path, {**config(upstream), "store": "off"})
    with serving(tmp_path) as served:
        post(served.root() + PATH, {**ASK, "stream": True}, key=CLIENT)
        served.stop()
    assert "stream_options" not in upstream.seen[-1].json


async def refuse_options(asked: Asked) -> None:
    if "stream_options" in asked.json:
        asked.document({"error": {"message": "Unrecognized request argument supplied: stream_options"}}, 400)
    else:
        await stream(asked)


def test_a_provider_that_refuses_to_be_asked_is_asked_without_it(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = refuse_options
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served:
        replies = [post(served.root() + PATH, {**ASK, "stream": True}, key=CLIENT) for _ in range(2)]
        served.stop()
    assert [reply.body for reply in replies] == [TEXT + DONE] * 2
    assert [row.estimated for row in recorded(tmp_path)] == [1, 1]
