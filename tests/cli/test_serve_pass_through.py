"""Paths that are passed through with a real gateway: what stored keys may use, what it cost, and what is logged."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from tests.cli.served import CLIENT, config, serving, write
from tests.cli.test_serve_store import PRICE, Commands
from tests.gateway.scripted import Asked, Scripted
from tests.support.http import post, request

from moongate.gateway.store.record import names_in

EMBEDDINGS = {"data": [{"embedding": [0.5]}], "usage": {"prompt_tokens": 8, "total_tokens": 8}}


@pytest.fixture
def commands(tmp_path: Path) -> Commands:
    return Commands(tmp_path)


def test_keys_usage_and_log(commands: Commands, upstream: Scripted) -> None:
    async def play(asked: Asked) -> None:
        asked.document(EMBEDDINGS if "embeddings" in asked.head else {"id": "file-1"})

    upstream.play = play
    made: dict[str, Any] = config(upstream)
    made["providers"][0]["passthrough"] = [{"path": "/v1/embeddings", "price": PRICE}, "/v1/files"]
    write(commands.folder, made)
    limited = commands.json("keys", "create", "--models", "m", "/v1/embeddings")
    with serving(commands.folder) as served:
        root = served.root()
        assert post(root + "/v1/embeddings", {"input": "a"}, key=limited["key"]).json() == EMBEDDINGS
        refused = post(root + "/v1/files", {}, key=limited["key"])
        assert (refused.status, refused.json()["error"]["code"]) == (403, "model_not_allowed")
        files = {"content-type": "multipart/form-data; boundary=x"}
        upload = request("POST", root + "/v1/files", b"x" * 400_000, key=CLIENT, headers=files)
        assert upload.json() == {"id": "file-1"}
        assert served.stop() == 0
        lines = [line for line in served.lines if "front" in line]
    used, uploaded = commands.rows()
    assert names_in(used.label) == (limited["id"], "", "passthrough", "p", "/v1/embeddings", "")
    assert (used.input, used.output, used.cost, used.estimated) == (8, 0, 8, 0)
    assert names_in(uploaded.label)[2:5] == ("passthrough", "p", "/v1/files")
    assert (uploaded.input, uploaded.output, uploaded.cost, uploaded.estimated) == (0, 0, 0, 0)
    shown = [(line["front"], line["provider"], line["model"], line["status"]) for line in lines]
    assert shown == [
        ("passthrough", "p", "/v1/embeddings", 200),
        ("passthrough", "", "", 403),
        ("passthrough", "p", "/v1/files", 200),
    ]
    assert lines[0]["input_tokens"] == 8


def test_a_chunked_request_reserves_what_a_large_one_may_cost(commands: Commands, upstream: Scripted) -> None:
    async def play(asked: Asked) -> None:
        asked.document(EMBEDDINGS)

    upstream.play = play
    made: dict[str, Any] = config(upstream)
    made["providers"][0]["passthrough"] = ["/v1/embeddings"]
    write(commands.folder, made)
    small, large = (commands.json("keys", "create", "--token-budget", tokens)["key"] for tokens in ("9000", "90000"))
    with serving(commands.folder) as served:
        assert [_chunked(served.root(), key) for key in (small, large)] == [429, 100]
        assert post(served.root() + "/v1/embeddings", {"input": "a"}, key=small).status == 200
        assert served.stop() == 0


def _chunked(root: str, key: str) -> int:
    """The first status of a request whose length is not known; 100: its body may come."""
    host, _, port = root.removeprefix("http://").partition(":")
    head = f"POST /v1/embeddings HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {key}\r\n"
    head += "content-type: application/json\r\ntransfer-encoding: chunked\r\nexpect: 100-continue\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=30) as sock:
        sock.sendall(head.encode())
        return int(sock.recv(1000)[9:12])
