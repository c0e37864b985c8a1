"""`moongate verify` against simulated vendors on real sockets."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import run, write
from tests.support.background import Background

from moongate.sim.server import SimServer, start

pytestmark = pytest.mark.usefixtures("folder")
TIMEOUT = 60.0
THEIR_ROW = {
    *("data_index", "request", "extra_body", "response", "status", "finish_reason", "tool_calls_valid"),
    *("last_run_at", "duration_ms", "hash"),
}
THEIR_SUMMARY = {
    *("model", "success_count", "failure_count", "finish_stop", "finish_tool_calls", "finish_others"),
    *("finish_others_detail", "schema_validation_error_count", "successful_tool_call_count", "usage"),
    *("eval_started_at", "eval_finished_at", "eval_duration_ms"),
}


@pytest.fixture(scope="module")
def vendor() -> Iterator[SimServer]:
    with Background() as background:
        yield background.start(start())


def _verify(vendor: SimServer, model: str, *more: str, out: str = "out") -> int:
    return run(["verify", "--base-url", vendor.url, "--model", model, "--out", out, *more])


def _summary(out: str = "out") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(out, "summary.json").read_bytes())
    return found


def _rows(out: str = "out") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(out, "results.jsonl").read_bytes().splitlines()]


def test_a_good_vendor_passes_everything(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = "schema=1,f1=1,contract=1,multiturn=1,stream=1,tools=1,repaired.schema=1,repaired.stream=1"
    assert _verify(vendor, "kimi-k2-sim", "--fail-under", wanted) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "schema     100.0 % (" in shown.out
    summary, rows = _summary(), _rows()
    assert set(summary) >= THEIR_SUMMARY
    assert all(set(row) >= THEIR_ROW for row in rows)
    assert [row["data_index"] for row in rows] == list(range(1, len(rows) + 1))
    assert summary["moongate"]["raw"]["faults"] == {}
    document = ElementTree.parse("out/junit.xml").getroot()
    assert len(document.findall(".//testcase")) == len(rows)
    assert document.findall(".//failure") == []
    assert Path("out/report.html").read_text().startswith("<!doctype html>")


def test_formulas_equal_an_independent_computation(vendor: SimServer) -> None:
    model = "kimi-k2-sim-valid-70-wrong-types-missing-calls-needless-calls-seed-5"
    assert _verify(vendor, model, "--suite", "tools,schema", "--runs", "3") == 0
    summary, rows = _summary(), _rows()
    called = [row["finish_reason"] == "tool_calls" for row in rows]
    due = [row["moongate"]["due"] for row in rows]
    tp = sum(c and d for c, d in zip(called, due, strict=True))
    precision, recall = tp / sum(called), tp / sum(due)
    assert summary["tool_call_f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    valid = sum(row["tool_calls_valid"] is True for row in rows)
    assert summary["schema_accuracy"] == pytest.approx(valid / sum(called))
    assert summary["successful_tool_call_count"] == valid
    assert summary["schema_validation_error_count"] == sum(called) - valid > 0
    assert summary["usage"]["total_tokens"] == sum(row["moongate"]["usage"]["total_tokens"] for row in rows)


def test_what_the_chain_repairs_is_seen_beside_what_came(vendor: SimServer) -> None:
    model = "kimi-k2-sim-valid-50-leaked-markers-wrong-finishes-foreign-ids"
    assert _verify(vendor, model, "--suite", "tools", "--fail-under", "tools=0.9,repaired.tools=1") == 1
    ours = _summary()["moongate"]
    assert ours["raw"]["faults"]["leaked_content"]["hits"] > 0
    assert ours["raw"]["faults"]["wrong_finish"]["hits"] > 0
    assert ours["repaired"]["faults"] == {}
    assert ours["raw"]["id_shapes"].keys() == {"call_…"}
    assert ours["repairs"]["markers_parsed"] > 0
    assert ours["requests"] == ours["samples"]  # one answer, judged twice
    assert len(ours["worst"]) <= 10
    assert all(example["mended"] and example["came"] != example["left"] for example in ours["worst"])


def test_what_a_vendor_refuses_and_the_chain_mends_is_told_apart(vendor: SimServer) -> None:
    assert _verify(vendor, "kimi-k3-sim-moonshot-walls-temperature-range", "--suite", "contract") == 0
    ours = _summary()["moongate"]
    assert ours["raw"]["rates"]["contract"]["value"] == 1.0
    assert ours["mended_by_design"] > 0
    assert ours["repaired"]["rates"]["contract"]["of"] == ours["samples"] - ours["mended_by_design"]


def test_samples_and_results_of_the_other_verifier_are_read(vendor: SimServer) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    bodies = [
        {"messages": [{"role": "_input", "content": "x"}, {"role": "user", "content": f"call it {n}"}], "tools": [tool]}
        for n in range(6)
    ]
    Path("samples.jsonl").write_text("\n".join(map(json.dumps, bodies)) + "\n")
    baseline = [
        {"data_index": n, "status": "success", "finish_reason": "stop" if n == 6 else "tool_calls"} for n in range(1, 7)
    ]
    Path("official.jsonl").write_text("\n".join(map(json.dumps, baseline)) + "\n")
    assert _verify(vendor, "kimi-k2-sim", "--data", "samples.jsonl", "--baseline", "official.jsonl") == 0
    assert [row["request"]["messages"][0]["role"] for row in _rows()] == ["system"] * 6
    assert _summary()["moongate"]["raw"]["triggers"] == {"tp": 5, "fp": 1, "fn": 0, "tn": 0}


def test_a_budget_and_a_maximum_end_a_run(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert _verify(vendor, "kimi-k2-sim", "--suite", "tools", "--max", "7") == 0
    assert _summary()["moongate"]["samples"] == 7
    assert _verify(vendor, "kimi-k2-sim", "--budget", "3k", "--concurrency", "1", out="small") == 0
    assert 3000 <= _summary("small")["moongate"]["tokens"] < 6000
    assert "not all was asked: the budget is used up" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more",
    [
        ["--suite", "nonsense"],
        ["--fail-under", "beauty=1"],
        ["--budget", "a lot"],
        ["--budget", "2usd"],
        ["--data", "absent"],
    ],
)
def test_a_wrong_command_line_is_exit_2(vendor: SimServer, more: list[str]) -> None:
    assert _verify(vendor, "kimi-k2-sim", *more) == 2


def test_nobody_there_is_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        assert run(["verify", "--base-url", url, "--model", "kimi-k2", "--retries", "0"]) == 3
    assert "nobody answers" in capsys.readouterr().err


def test_a_configured_model_and_a_comparison(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    kimi = {"use": [["Kimi", {"preset": "agent"}]]}
    models = ["kimi-k2-sim", "kimi-k2-sim-valid-50"]
    write({"name": "p", "api_base_url": vendor.url, "api_key": "sk-canary-1234", "models": models, "transformer": kimi})
    for model, out in zip(models, "ab", strict=True):
        assert run(["verify", f"p,{model}", "--suite", "schema", "--out", out]) == 0
    assert run(["verify", "compare", "a", "b"]) == 0
    shown = capsys.readouterr().out
    assert "raw schema *" in shown
    assert "p,kimi-k2-sim-valid-50" in shown
    assert run(["verify", "compare", "a"]) == 2
    assert all("canary" not in path.read_text() for path in Path("a").iterdir())


def test_a_killed_run_goes_on_to_the_same_summary(vendor: SimServer, tmp_path: Path) -> None:
    model = "kimi-k2-sim-leaked-markers"  # each turn is damaged in the same way, whenever it comes
    command = ["--base-url", vendor.url, "--model", model, "--suite", "tools,schema", "--runs", "6"]
    assert run(["verify", *command, "--out", "whole"]) == 0
    killed = [sys.executable, "-m", "moongate", "verify", *command, "--out", "killed", "--concurrency", "2"]
    results, grown = Path("killed/results.jsonl"), 0
    for number in range(10):
        process = subprocess.Popen(
            [*killed, "--resume"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        end = time.monotonic() + TIMEOUT
        wanted = grown + 1000 * (number + 1)
        while process.poll() is None and time.monotonic() < end:
            if results.exists() and results.stat().st_size > wanted:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT)
        grown = results.stat().st_size if results.exists() else 0
    assert run(["verify", *command, "--out", "killed", "--resume"]) == 0
    whole, resumed = _summary("whole"), _summary("killed")
    for summary in (whole, resumed):
        for name in ("eval_started_at", "eval_finished_at", "eval_duration_ms"):
            del summary[name]
    assert resumed == whole


def test_results_are_not_overwritten(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert _verify(vendor, "kimi-k2-sim", "--max", "3") == 0
    assert _verify(vendor, "kimi-k2-sim", "--max", "3") == 2
    assert "--resume goes on" in capsys.readouterr().err
    assert _verify(vendor, "kimi-k2-sim", "--max", "4", "--resume") == 2
    assert _verify(vendor, "kimi-k2-sim", "--max", "3", "--resume") == 0
