"""`moongate check --live` against simulated vendors on real sockets."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.cli.sample import run, write
from tests.support.background import Background

from moongate.sim.server import SimServer, start

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def vendor() -> Iterator[SimServer]:
    with Background() as background:
        yield background.start(start())


def _provider(url: str, *models: str, **more: Any) -> dict[str, Any]:
    kimi = {"use": [["Kimi", {"preset": "agent"}]]}
    return {
        "name": "p",
        "api_base_url": url,
        "api_key": "sk-canary-1234",
        "models": list(models),
        "transformer": kimi,
        **more,
    }


def test_live_asks_every_target(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    write(_provider(vendor.url, "kimi-k2-sim", "kimi-k2-sim-markers-foreign-ids"))
    assert run(["check", "--live"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("asks 2 targets; at most about ")
    assert "p,kimi-k2-sim  works\n" in shown
    assert "p,kimi-k2-sim-markers-foreign-ids  works, with repairs\n" in shown
    assert "markers_parsed" in shown
    assert "tool loop, second turn: " in shown
    assert "first byte after" in shown
    billed = sum(entry.usage["total_tokens"] for entry in vendor.billed if entry.usage)
    assert f"2 of 2 targets work; {billed:,} tokens spent" in shown
    assert "canary" not in shown


def test_live_asks_for_every_key_and_goes_on_after_a_bad_answer(
    vendor: SimServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vendor that makes no call in whole answers may still make them in streams."""
    write(_provider(vendor.url, "kimi-k2-sim-empty-turns", api_key=["sk-canary-1234", "sk-canary-5678"]))
    assert run(["check", "--live", "--json"]) == 1
    shown = capsys.readouterr().out
    (target,) = json.loads(shown)["targets"]
    assert [(each["step"], each["ok"]) for each in target["steps"]] == [
        ("key", True),
        ("model", True),
        ("key 2", True),
        ("whole tool call", False),
        ("streamed tool call", False),
        ("tool loop, first turn", False),
    ]
    assert "canary" not in shown


class _KeyChecker(BaseHTTPRequestHandler):
    """Takes one key of two."""

    def do_GET(self) -> None:
        good = self.headers["Authorization"] == "Bearer sk-canary-5678"
        body = b'{"data": []}' if good else b'{"error": {"message": "Invalid Authentication: sk-canary-1234"}}'
        self.send_response(200 if good else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Nothing is printed."""


def test_live_says_which_key_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _KeyChecker) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        write(_provider(url, "kimi-k2", api_key=["sk-canary-1234", "sk-canary-5678"]))
        assert run(["check", "--live", "--json"]) == 1
        server.shutdown()
    shown = capsys.readouterr().out
    (target,) = json.loads(shown)["targets"]
    assert [(each["step"], each["ok"]) for each in target["steps"]] == [("key", False), ("key 2", True)]
    assert "(status 401)" in target["steps"][0]["detail"]
    assert "canary" not in shown


def test_live_says_which_refusals_were_learned(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    write(_provider(vendor.url, "kimi-k2-sim-no-max-tokens"))
    assert run(["check", "--live", "--json"]) == 0
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    assert target["verdict"] == "works, with repairs"
    assert target["learned"] == ["max_tokens"]


@pytest.mark.parametrize(
    ("model", "step", "said"),
    [
        ("kimi-k2-sim-nonsense", "whole tool call", "no such model or path: the simulator cannot play 'nonsense'"),
        ("kimi-k2-sim-empty-turns", "whole tool call", "it made no call"),
        ("kimi-k2-sim-unknown-tools", "whole tool call", "unknown_tool"),
        ("kimi-k2-sim-quota", "whole tool call", "(status 429)"),
    ],
)
def test_live_fails_for_what_does_not_work(
    vendor: SimServer, model: str, step: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(_provider(vendor.url, model))
    assert run(["check", "--live", "--json"]) == 1
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    assert target["verdict"] == "fails"
    failed = [each for each in target["steps"] if not each["ok"]]
    assert failed[0]["step"] == step
    assert said in failed[0]["detail"]


def _native(url: str, dialect: str, *models: str, **more: Any) -> dict[str, Any]:
    root = url.removesuffix("/v1")
    address = f"{root}/anthropic" if dialect == "anthropic" else f"{root}/v1"
    return _provider(address, *models, name=dialect, dialect=dialect, **more)


STEPS = ["key", "model", "whole tool call", "streamed tool call", "tool loop, first turn", "tool loop, second turn"]


def test_live_asks_native_providers_in_their_own_api(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    native = [_native(vendor.url, dialect, "kimi-k2.6-sim") for dialect in ("anthropic", "responses")]
    write({"providers": [*native, _provider(vendor.url, "kimi-k2-sim")]})
    assert run(["check", "--live", "--json"]) == 0
    shown = capsys.readouterr().out
    found = json.loads(shown)
    assert [target["target"] for target in found["targets"]] == [
        "anthropic,kimi-k2.6-sim",
        "responses,kimi-k2.6-sim",
        "p,kimi-k2-sim",
    ]
    for target in found["targets"]:
        assert [each["step"] for each in target["steps"]] == STEPS
        assert all(each["ok"] for each in target["steps"])
        assert target["verdict"].startswith("works")
    assert found["tokens"] == sum(entry.usage["total_tokens"] for entry in vendor.billed if entry.usage)
    assert "canary" not in shown
    asked = [request for request, _ in vendor.vendor.native]
    assert {request.path for request in asked} == {"/anthropic/v1/messages", "/v1/responses"}
    for request in asked:
        assert request.headers["authorization"] == "Bearer sk-canary-1234"
        is_anthropic = request.path == "/anthropic/v1/messages"
        assert request.headers.get("x-api-key") == ("sk-canary-1234" if is_anthropic else None)
        assert request.headers.get("anthropic-version") == ("2023-06-01" if is_anthropic else None)


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
@pytest.mark.parametrize(
    ("model", "step", "said"),
    [
        ("kimi-k2-sim-nonsense", "whole tool call", "no such model or path: "),
        ("kimi-k2-sim-empty-turns", "whole tool call", "empty_turn"),
        ("kimi-k2-sim-unknown-tools", "whole tool call", "unknown_tool"),
    ],
)
def test_live_fails_for_native_providers_that_do_not_work(
    vendor: SimServer, dialect: str, model: str, step: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write({"providers": [_native(vendor.url, dialect, model)]})
    assert run(["check", "--live", "--json"]) == 1
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    assert target["verdict"] == "fails"
    failed = [each for each in target["steps"] if not each["ok"]]
    assert failed[0]["step"] == step
    assert said in failed[0]["detail"]


class _CutAnswers(_KeyChecker):
    """Answers that say that they are cut before a call, and responses that failed without an error."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"status": "failed", "content": [{"type": "text", "text": "Let me"}], "stop_reason": "max_tokens"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.mark.parametrize(("dialect", "said"), [("anthropic", "it made no call"), ("responses", "failed")])
def test_live_fails_for_answers_that_are_not_damaged_and_hold_no_call(
    dialect: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _CutAnswers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        write({"providers": [_native(url, dialect, "kimi-k2", api_key="sk-canary-5678")]})
        assert run(["check", "--live", "--json"]) == 1
        server.shutdown()
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    assert target["steps"][2] == {"step": "whole tool call", "ok": False, "detail": said, "first_byte_ms": None}


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
def test_live_says_that_a_native_address_gives_no_answer(dialect: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A provider of chat completions behind an address that is said to be native."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _WithoutUsage) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        write({"providers": [_native(url, dialect, "kimi-k2", api_key="sk-canary-5678")]})
        assert run(["check", "--live", "--json"]) == 1
        server.shutdown()
    (target,) = json.loads(capsys.readouterr().out)["targets"]
    assert [each["detail"] for each in target["steps"] if not each["ok"]] == [
        "empty_turn",
        "the provider's stream held no answer",
        "empty_turn",
    ]
    assert target["tokens_without_usage"] > 0


class _WithoutUsage(_KeyChecker):
    """Answers every request, and never says what it cost."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b'{"choices": [{"index": 0, "message": {"content": "high"}, "finish_reason": "stop"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_live_estimates_what_answers_without_usage_cost(capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _WithoutUsage) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}"
        write(_provider(url, "kimi-k2", api_key="sk-canary-5678"))
        assert run(["check", "--live"]) == 1
        assert re.search(
            r"; 0 tokens spent; about [1-9]\d\d more in answers that say no usage\n", capsys.readouterr().out
        )
        assert run(["check", "--live", "--json"]) == 1
        server.shutdown()
    found = json.loads(capsys.readouterr().out)
    assert found["tokens_without_usage"] == found["targets"][0]["tokens_without_usage"] > 0


def test_live_says_that_nobody_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        write(_provider(f"http://127.0.0.1:{port}", "kimi-k2"))
        assert run(["check", "--live", "--timeout", "5"]) == 1
    shown = capsys.readouterr().out
    assert "p,kimi-k2  fails" in shown
    assert "no  reachable: " in shown
    assert "0 of 1 targets work; 0 tokens spent" in shown
