from __future__ import annotations

import json
from typing import Any

import pytest

from moongate.sim.app import Request, Response, Vendor

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": SCHEMA}}]


def ask(vendor: Vendor, model: str, path: str = "/v1/chat/completions", header: str = "", **fields: Any) -> Response:
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}], **fields}
    headers = {"x-sim": header} if header else {}
    return vendor.answer(Request("POST", path, headers, json.dumps(body).encode()))


def document(response: Response) -> Any:
    return json.loads(b"".join(response.pieces))


def chunks(response: Response) -> list[Any]:
    lines = b"".join(response.pieces).decode().split("\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line and line != "data: [DONE]"]


def test_whole_and_streamed_say_the_same() -> None:
    vendor = Vendor()
    whole = document(ask(vendor, "kimi-k2.5-sim", tools=TOOLS))["choices"][0]
    parts = [chunk["choices"][0]["delta"] for chunk in chunks(ask(vendor, "kimi-k2.5-sim", tools=TOOLS, stream=True))]
    said = "".join(part.get("content") or "" for part in parts)
    thought = "".join(part.get("reasoning_content") or "" for part in parts)
    assert (said, thought) == (whole["message"]["content"], whole["message"]["reasoning_content"])
    assert whole["finish_reason"] == "tool_calls"
    assert [body["model"] for _, body in vendor.seen] == ["kimi-k2.5-sim"] * 2


def test_several_choices_take_turns() -> None:
    streamed = chunks(ask(Vendor(), "kimi-k2-sim", n=2, stream=True))
    assert [chunk["choices"][0]["index"] for chunk in streamed[:4]] == [0, 1, 0, 1]
    whole = document(ask(Vendor(), "kimi-k2-sim", n=2))
    assert [choice["message"]["content"] for choice in whole["choices"]] == [
        "The Kimi simulator heard: hi",
        "The Kimi simulator heard: hi (choice 1)",
    ]


def test_usage_comes_when_asked_for_or_in_the_choices() -> None:
    asked = chunks(ask(Vendor(), "kimi-k2-sim", stream=True, stream_options={"include_usage": True}))
    assert asked[-1]["choices"] == []
    assert asked[-1]["usage"]["total_tokens"] > 0
    plain = chunks(ask(Vendor(), "kimi-k2-sim", stream=True))
    assert not any("usage" in chunk for chunk in plain)
    odd = chunks(ask(Vendor(), "kimi-k2-sim-usage-in-choices", stream=True))
    assert odd[-1]["choices"][0]["usage"]["total_tokens"] > 0
    whole = document(ask(Vendor(), "kimi-k2-sim-usage-in-choices"))
    assert "usage" not in whole
    assert whole["choices"][0]["usage"]["prompt_tokens_details"]["cached_tokens"] >= 0
    assert document(ask(Vendor("moonshot"), "kimi-k2-sim"))["usage"]["cached_tokens"] >= 0


@pytest.mark.parametrize(("row", "asked", "kind"), [("document", True, "json"), ("stream", False, "event-stream")])
def test_shapes_that_were_not_asked_for(row: str, asked: bool, kind: str) -> None:
    response = ask(Vendor(), f"kimi-k2-sim-{row}", stream=asked)
    assert kind in dict(response.headers)["content-type"]


def test_rows_come_from_the_start_the_path_the_header_and_the_name() -> None:
    history = [{"role": "tool", "tool_call_id": "x", "content": "y"}]
    assert ask(Vendor(), "kimi-k2-sim", messages=history).status == 200
    assert ask(Vendor("strict"), "kimi-k2-sim", messages=history).status == 400
    assert ask(Vendor(), "kimi-k2-sim", "/strict/v1/chat/completions", messages=history).status == 400
    assert ask(Vendor(), "kimi-k2-sim", "/api/vllm-strict/v1/chat/completions", messages=history).status == 400
    assert ask(Vendor(), "kimi-k2-sim", header="vllm, strict", messages=history).status == 400
    assert ask(Vendor(), "kimi-k2-sim-strict", messages=history).status == 400
    assert ask(Vendor("walls-moonshot"), "kimi-k2-sim", messages=history).status == 400


@pytest.mark.parametrize(
    ("row", "status", "kind"),
    [
        ("429", 429, "rate_limit_reached_error"),
        ("quota", 429, "exceeded_current_quota_error"),
        ("500", 500, "server_error"),
    ],
)
def test_errors_that_stay(row: str, status: int, kind: str) -> None:
    vendor = Vendor()
    for _ in range(2):
        response = ask(vendor, f"kimi-k2-sim-{row}")
        assert (response.status, document(response)["error"]["type"]) == (status, kind)


@pytest.mark.parametrize(("row", "status"), [("429-once", 429), ("500-once", 500), ("overloaded-once", 429)])
def test_errors_that_pass(row: str, status: int) -> None:
    vendor = Vendor()
    assert [ask(vendor, f"kimi-k2-sim-{row}").status for _ in range(3)] == [status, 200, 200]
    assert ask(vendor, f"kimi-k2-sim-{row}", stream=True).status == status


@pytest.mark.parametrize(("row", "ending"), [("broken", "cut"), ("broken-chunk", "chunk"), ("stalled", "stall")])
def test_broken_answers_are_half_of_the_good_ones(row: str, ending: str) -> None:
    for stream in (False, True):
        good = b"".join(ask(Vendor(), "kimi-k2-sim", stream=stream).pieces)
        bad = ask(Vendor(), f"kimi-k2-sim-{row}", stream=stream)
        assert bad.ending == ending
        assert 0 < len(b"".join(bad.pieces)) < len(good)
        assert b"[DONE]" not in b"".join(bad.pieces)


def test_an_error_in_the_middle() -> None:
    last = chunks(ask(Vendor(), "kimi-k2-sim-error-mid", stream=True))[-1]
    assert last["error"]["type"] == "server_error"
    assert ask(Vendor(), "kimi-k2-sim-error-mid").status == 500


def test_other_paths_and_bad_bodies() -> None:
    vendor = Vendor()
    assert document(vendor.answer(Request("GET", "/v1/models", {}, b"")))["data"][0]["id"] == "kimi-k2-sim"
    assert vendor.answer(Request("GET", "/health", {}, b"")).status == 200
    assert vendor.answer(Request("GET", "/x", {}, b"")).status == 404
    assert vendor.answer(Request("GET", "/v1/chat/completions", {}, b"")).status == 405
    assert vendor.answer(Request("POST", "/v1/chat/completions", {}, b"[1]")).status == 400
    assert ask(vendor, "kimi-k2-sim", messages=[]).status == 400
    assert ask(vendor, "kimi-k2-sim", messages=[1]).status == 400
    unknown = ask(vendor, "kimi-k2-sim-nonsense")
    assert (unknown.status, document(unknown)["error"]["type"]) == (404, "resource_not_found_error")


def test_the_memory_of_first_tries_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moongate.sim.app.MAX_REMEMBERED", 2)
    vendor = Vendor()
    for word in "abc":
        ask(vendor, "kimi-k2-sim-500-once", user=word)
    assert len(vendor.failed_once) == 2
