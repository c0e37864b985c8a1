from __future__ import annotations

import json
from typing import Any

import pytest

from moongate.sim.responses import SimRequest, SimResponse
from moongate.sim.vendor import Vendor

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": SCHEMA}}]


def ask(vendor: Vendor, model: str, path: str = "/v1/chat/completions", header: str = "", **fields: Any) -> SimResponse:
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}], **fields}
    headers = {"x-sim": header} if header else {}
    return vendor.answer(SimRequest("POST", path, headers, json.dumps(body).encode()))


def document(response: SimResponse) -> Any:
    return json.loads(b"".join(response.pieces))


def chunks(response: SimResponse) -> list[Any]:
    lines = b"".join(response.pieces).decode().split("\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line and line != "data: [DONE]"]


def test_whole_and_streamed_answers_have_the_same_content() -> None:
    vendor = Vendor()
    whole = document(ask(vendor, "kimi-k2.5-sim", tools=TOOLS))["choices"][0]
    parts = [chunk["choices"][0]["delta"] for chunk in chunks(ask(vendor, "kimi-k2.5-sim", tools=TOOLS, stream=True))]
    text = "".join(part.get("content") or "" for part in parts)
    reasoning = "".join(part.get("reasoning_content") or "" for part in parts)
    assert (text, reasoning) == (whole["message"]["content"], whole["message"]["reasoning_content"])
    assert whole["finish_reason"] == "tool_calls"
    assert [body["model"] for _, body in vendor.seen] == ["kimi-k2.5-sim"] * 2


def test_the_chunks_of_several_choices_alternate() -> None:
    streamed = chunks(ask(Vendor(), "kimi-k2-sim", n=2, stream=True))
    assert [chunk["choices"][0]["index"] for chunk in streamed[:4]] == [0, 1, 0, 1]
    whole = document(ask(Vendor(), "kimi-k2-sim", n=2))
    assert [choice["message"]["content"] for choice in whole["choices"]] == [
        "The Kimi simulator heard: hi",
        "The Kimi simulator heard: hi (choice 1)",
    ]


def test_usage_comes_when_requested_or_in_the_choices() -> None:
    requested = chunks(ask(Vendor(), "kimi-k2-sim", stream=True, stream_options={"include_usage": True}))
    assert requested[-1]["choices"] == []
    assert requested[-1]["usage"]["total_tokens"] > 0
    plain = chunks(ask(Vendor(), "kimi-k2-sim", stream=True))
    assert not any("usage" in chunk for chunk in plain)
    odd = chunks(ask(Vendor(), "kimi-k2-sim-usage-in-choices", stream=True))
    assert odd[-1]["choices"][0]["usage"]["total_tokens"] > 0
    whole = document(ask(Vendor(), "kimi-k2-sim-usage-in-choices"))
    assert "usage" not in whole
    assert whole["choices"][0]["usage"]["prompt_tokens_details"]["cached_tokens"] >= 0
    assert document(ask(Vendor("moonshot"), "kimi-k2-sim"))["usage"]["cached_tokens"] >= 0


@pytest.mark.parametrize(("row", "stream", "kind"), [("document", True, "json"), ("stream", False, "event-stream")])
def test_a_document_for_a_stream_and_the_reverse(row: str, stream: bool, kind: str) -> None:
    response = ask(Vendor(), f"kimi-k2-sim-{row}", stream=stream)
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
def test_permanent_errors(row: str, status: int, kind: str) -> None:
    vendor = Vendor()
    for _ in range(2):
        response = ask(vendor, f"kimi-k2-sim-{row}")
        assert (response.status, document(response)["error"]["type"]) == (status, kind)


@pytest.mark.parametrize(("row", "status"), [("429-once", 429), ("500-once", 500), ("overloaded-once", 429)])
def test_errors_of_the_first_try_only(row: str, status: int) -> None:
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
    models = document(vendor.answer(SimRequest("GET", "/v1/models", {}, b"")))["data"]
    assert "kimi-k2-sim" in [each["id"] for each in models]
    assert vendor.answer(SimRequest("GET", "/health", {}, b"")).status == 200
    assert vendor.answer(SimRequest("GET", "/x", {}, b"")).status == 404
    assert vendor.answer(SimRequest("GET", "/v1/chat/completions", {}, b"")).status == 405
    assert vendor.answer(SimRequest("POST", "/v1/chat/completions", {}, b"[1]")).status == 400
    assert ask(vendor, "kimi-k2-sim", messages=[]).status == 400
    assert ask(vendor, "kimi-k2-sim", messages=[1]).status == 400
    unknown = ask(vendor, "kimi-k2-sim-nonsense")
    assert (unknown.status, document(unknown)["error"]["type"]) == (404, "resource_not_found_error")


def test_the_memory_of_first_tries_is_bounded() -> None:
    vendor = Vendor(max_failed_once=2)
    for word in "abc":
        ask(vendor, "kimi-k2-sim-500-once", user=word)
    assert len(vendor.failed_once) == 2


def billed(vendor: Vendor, query: str = "", method: str = "GET") -> Any:
    return document(vendor.answer(SimRequest(method, "/sim/ledger", {}, b"", query)))


def test_everything_that_was_billed_can_be_read_back() -> None:
    vendor = Vendor()
    whole = document(ask(vendor, "kimi-k2-sim", tools=TOOLS))
    ask(vendor, "kimi-k2-sim", stream=True)
    ask(vendor, "kimi-k2-sim", stream=True, stream_options={"include_usage": True})
    ask(vendor, "kimi-k2-sim-500")
    ask(vendor, "kimi-k2-sim-moonshot", stream=True)
    ask(vendor, "kimi-k2-sim-broken-json", tools=TOOLS)
    entries = billed(vendor)["entries"]
    assert [entry["status"] for entry in entries] == [200, 200, 200, 500, 200, 200]
    assert [entry["usage_sent"] for entry in entries] == [True, False, True, False, True, True]
    assert [entry["stream"] for entry in entries] == [False, True, True, False, True, False]
    assert (entries[0]["usage"], entries[0]["id"]) == (whole["usage"], whole["id"])
    assert entries[3]["usage"] is None
    assert [entry["damage"] for entry in entries] == ["", "", "", "", "", "broken-json"]
    total = sum(entry["usage"]["total_tokens"] for entry in entries if entry["usage"])
    assert billed(vendor)["sums"]["total_tokens"] == total
    assert [entry["number"] for entry in billed(vendor, "after=2&limit=2")["entries"]] == [3, 4]
    assert billed(vendor, method="DELETE")["requests"] == 0
    assert vendor.answer(SimRequest("POST", "/sim/ledger", {}, b"")).status == 405
    assert vendor.answer(SimRequest("GET", "/sim/ledger", {}, b"", "after=x")).status == 400


def test_each_answer_carries_the_trace_of_its_entry() -> None:
    vendor = Vendor()
    for number, model in enumerate(["kimi-k2-sim", "kimi-k2-sim-500", "kimi-k2-sim-zzz"], 1):
        assert dict(ask(vendor, model).headers)["x-trace-id"] == f"sim-{number}"
    assert dict(ask(vendor, "kimi-k2-sim", stream=True).headers)["x-trace-id"] == "sim-4"


def test_moonshot_tells_usage_unasked() -> None:
    last = chunks(ask(Vendor("moonshot"), "kimi-k3-sim", stream=True))[-1]
    assert last["choices"][0]["usage"]["total_tokens"] > 0
    asked = chunks(ask(Vendor("moonshot"), "kimi-k3-sim", stream=True, stream_options={"include_usage": True}))[-1]
    assert asked["usage"]["total_tokens"] > 0


def test_silence_comes_before_the_arguments() -> None:
    response = ask(Vendor(), "kimi-k2-sim-silent-arguments", tools=TOOLS, stream=True)
    ((piece, seconds),) = response.silences.items()
    assert seconds == 1.0
    assert b'"arguments":"{' in response.pieces[piece]
    assert not any(b'"arguments":"{' in each for each in response.pieces[:piece])
    assert ask(Vendor(), "kimi-k2-sim-silent-arguments", tools=TOOLS).silences == {0: 1.0}
    assert ask(Vendor(), "kimi-k2-sim-silent-arguments", stream=True).silences == {}


@pytest.mark.parametrize("framing", ["crlf", "byte-chunks", "one-write", "ndjson"])
def test_silence_goes_with_every_framing(framing: str) -> None:
    good = b"".join(ask(Vendor(), f"kimi-k2-sim-{framing}-silent-arguments", tools=TOOLS, stream=True).pieces)
    assert good.count(b'"name"') == 1
    assert (b"[DONE]" in good) == (framing != "ndjson")


def test_max_tokens_are_honoured_where_selected() -> None:
    choice = document(ask(Vendor(), "kimi-k2-sim-max-tokens", max_tokens=2))["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("The Kimi", "length")
    plain = document(ask(Vendor(), "kimi-k2-sim-max-tokens", max_tokens="2"))["choices"][0]
    assert plain["finish_reason"] == "stop"


@pytest.mark.parametrize("stream", [False, True])
def test_damage_of_the_behaviour_reaches_the_answer(stream: bool) -> None:
    response = ask(Vendor(), "kimi-k2-sim-leaked-markers", tools=TOOLS, stream=stream)
    parts = chunks(response) if stream else [document(response)]
    texts = [(c.get("delta") or c.get("message") or {}).get("content") or "" for p in parts for c in p["choices"]]
    assert "<|tool_calls_section_begin|>" in "".join(texts)


def test_names_that_cannot_be_played_are_refused_as_unknown_models() -> None:
    for name in ("kimi-k2-sim-json-block", "kimi-k2-sim-one-id-empty-ids", "kimi-k2-simple"):
        assert ask(Vendor(), name).status == 404
