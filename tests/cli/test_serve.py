"""`moongate serve` as a process of its own: start, keys, log, errors."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.served import ASK, CLIENT, PATH, UPSTREAM, config, serving, write
from tests.gateway.scripted import Scripted, whole
from tests.support.http import get, post


def test_without_a_configuration_the_simulator_answers(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        root = served.root()
        key = served.find(r"client key: (mg-\S+)", err=True)[1]
        served.find(r"-d '.*\n", err=True)
        served.find(rf"your agent: \S.* -m moongate connect claude-code --write --url {root} ", err=True)
        file = tmp_path / "home" / "client-key"
        assert file.read_text().strip() == key
        assert file.stat().st_mode & 0o777 == 0o600
        # The line that was printed works as it stands.
        curl, url, *words = shlex.split(served.err.partition("leaves as a call):\n")[2].replace("\\\n", " "))
        assert curl == "curl"
        options = list(zip(words[::2], words[1::2], strict=True))
        headers = dict(value.split(": ", 1) for name, value in options if name == "-H")
        reply = post(url, dict(options)["-d"].encode(), headers=headers)
        choice = reply.json()["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"] == "I will look."
        assert [call["id"] for call in choice["message"]["tool_calls"]] == ["functions.look:0"]
        assert get(f"{root}/ready").json() == {"status": "ready"}
        served.find(r"see what it repairs: \S.* -m moongate demo\n", err=True)
        served.find(r"runs as (machine code|Python; `make compiled` builds the same as machine code)", err=True)
        # A name that combines rows is refused, not answered by a model that plays none of them.
        reply = post(root + PATH, {**ASK, "model": "kimi-k2-sim-strict-markers"}, key=key)
        assert reply.status == 404
        reply = post(root + PATH, {**ASK, "model": "claude-opus-5"}, key=key)
        assert reply.headers["x-moongate-model"] == "claude-opus-5 -> simulator,kimi-k2-sim"
        assert served.stop() == 0


def test_a_new_key_is_printed_only_on_a_terminal(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream, api_keys=[]))
    with serving(tmp_path) as served:
        root = served.root()
        file = tmp_path / "home" / "client-key"
        served.find(rf"client key: .*{file.name}", err=True)
        key = file.read_text().strip()
        assert post(root + PATH, ASK, key=key).status == 200
        assert served.stop() == 0
        assert key not in served.out + served.err


def test_a_request_is_logged_without_prompt_and_secrets(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path) as served:
        reply = post(served.root() + PATH, ASK, key=CLIENT)
        assert reply.status == 200
        post(served.root() + PATH, ASK | {"model": CLIENT}, key=CLIENT)
        assert served.stop() == 0
        first, second = served.lines
    assert first["id"] == reply.headers["x-request-id"]
    assert (first["provider"], first["model"], first["status"], first["input_tokens"]) == ("p", "m", 200, 7)
    assert first["first_byte_ms"] <= first["duration_ms"]
    assert second["status"] == 404
    assert "nobody may log" not in served.out + served.err
    assert CLIENT not in served.out + served.err
    assert UPSTREAM not in served.out + served.err


def test_bodies_are_logged_only_if_requested(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = whole
    write(tmp_path, config(upstream))
    with serving(tmp_path, "--log-bodies") as served:
        post(served.root() + PATH, ASK, key=CLIENT)
        served.stop()
        assert "nobody may log" in served.lines[0]["request"]
        assert "Hello." in served.lines[0]["answer"]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("{", (), "config.json:1:2: the text ends, but the '{' of line 1 is not closed"),
        ('{"providers": []}', (), "config.json:1: providers: expected"),
        (None, ("--config", "gone.json"), "gone.json: cannot be read: No such file"),
        (None, ("--port", "70000"), "--port: expected 0 … 65535, found 70000"),
        (None, ("--host", "0.0.0.0"), "listening on 0.0.0.0 needs 'api_keys'"),
    ],
)
def test_configuration_errors_exit_with_2_and_one_line(
    tmp_path: Path, content: str | None, arguments: tuple[str, ...], message: str
) -> None:
    if content is not None:
        write(tmp_path, content)
    with serving(tmp_path, *arguments) as served:
        assert served.end() == 2
        assert message in served.err
        assert "Traceback" not in served.err


def test_an_address_in_use_is_an_error_without_a_traceback(tmp_path: Path, upstream: Scripted) -> None:
    port = upstream.url.rpartition(":")[2]
    write(tmp_path, config(upstream))
    with serving(tmp_path, "--port", port) as served:
        assert served.end() == 1
        assert re.search(rf"cannot listen on 127.0.0.1:{port}: it is in use .*--port", served.err)
        assert "Traceback" not in served.err
