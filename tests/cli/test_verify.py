"""`moongate verify` against simulated vendors on real sockets."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from tests.cli.sample import run, write
from tests.gateway.scripted import Asked, Scripted
from tests.support.background import Background
from tests.support.length import by_length

from moongate.sim.server import SimServer, start
from moongate.verify.suites import rows as suite_rows

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


FULL_DISK = """
import resource, sys
from moongate.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
sys.exit(main(["verify", *sys.argv[1:]]))
"""


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
    assert document[0].attrib == {"name": "samples", "tests": str(len(rows)), "failures": "0", "errors": "0"}
    assert Path("out/report.html").read_text().startswith("<!doctype html>")


def _fits(row: dict[str, Any]) -> bool:
    """What K2-Vendor-Verifier asks of an answer that finishes with calls, by another validator."""
    parameters = {each["function"]["name"]: each["function"]["parameters"] for each in row["request"]["tools"]}
    calls = row["response"]["choices"][0]["message"].get("tool_calls") or []
    try:
        for call in calls:
            function = call["function"]
            jsonschema.validate(json.loads(function["arguments"]), parameters[function["name"]])
    except (KeyError, ValueError, jsonschema.ValidationError):
        return False
    return bool(calls)


@pytest.mark.parametrize(
    "kinds",
    ["wrong-types-missing-calls-needless-calls", "missing-required-broken-json-unknown-tools-wrong-finishes", "72"],
)
def test_formulas_equal_an_independent_computation(vendor: SimServer, kinds: str) -> None:
    """From requests and answers in the file alone."""
    model = f"kimi-k2-sim-valid-{'72' if kinds == '72' else f'70-{kinds}'}-seed-5"
    assert _verify(vendor, model, "--suite", "tools,schema", "--runs", "3") == 0
    summary, rows = _summary(), _rows()
    called = [row["response"]["choices"][0]["finish_reason"] == "tool_calls" for row in rows]
    prompts = {row["id"]: row["call"] for row in suite_rows("tool_prompts")}
    due = [prompts.get(row["moongate"]["case"], True) for row in rows]  # a schema always wants a call
    tp = sum(c and d for c, d in zip(called, due, strict=True))
    precision, recall = tp / sum(called), tp / sum(due)
    assert summary["tool_call_f1"] == pytest.approx(2 * precision * recall / (precision + recall))
    valid = sum(_fits(row) for row, c in zip(rows, called, strict=True) if c)
    assert summary["schema_accuracy"] == pytest.approx(valid / sum(called))
    assert summary["successful_tool_call_count"] == valid
    assert summary["schema_validation_error_count"] == sum(called) - valid > 0
    assert summary["finish_tool_calls"] == sum(called)
    assert summary["success_count"] == len(rows)
    assert summary["usage"]["total_tokens"] == sum(row["response"]["usage"]["total_tokens"] for row in rows)


def test_what_the_chain_repairs_is_seen_beside_what_came(vendor: SimServer) -> None:
    model = "kimi-k2-sim-valid-50-leaked-markers-wrong-finishes-foreign-ids"
    assert _verify(vendor, model, "--suite", "tools", "--fail-under", "tools=0.9,repaired.tools=1") == 1
    ours = _summary()["moongate"]
    samples, thresholds = ElementTree.parse("out/junit.xml").getroot()
    assert int(samples.attrib["failures"]) == len(samples.findall(".//failure")) > 0
    assert [case.attrib["name"] for case in thresholds] == [
        f"tools is {ours['raw']['rates']['tools']['value']:.4f}, below 0.9"
    ]
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


@pytest.mark.parametrize("model", ["kimi-k2.6", "kimi-k3.1"])
def test_moonshot_keeps_the_contract_and_reads_histories_without_repeated_ids(vendor: SimServer, model: str) -> None:
    """K2.6 refuses calls without reasoning and any temperature but 1; K3.1 always thinks. No case may want others."""
    assert _verify(vendor, f"{model}-sim-moonshot-walls", "--suite", "contract,multiturn") == 0
    failed = [row["moongate"]["case"] for row in _rows() if not row["moongate"]["raw"]["passed"]]
    assert {case.partition("-")[0] for case in failed} == {"restarting", "one"}


def test_samples_and_results_of_the_other_verifier_are_read(vendor: SimServer) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}
    bodies = [
        {"messages": [{"role": "_input", "content": "x"}, {"role": "user", "content": f"call it {n}"}], "tools": [tool]}
        for n in range(6)
    ]
    Path("samples.jsonl").write_text("\n\n".join(map(json.dumps, bodies)) + "\n")  # every second line is empty
    baseline = [
        {"data_index": n, "status": "success", "finish_reason": "stop" if n == 11 else "tool_calls"}
        for n in range(1, 12, 2)
    ]
    Path("official.jsonl").write_text("\n".join(map(json.dumps, baseline)) + "\n")
    assert _verify(vendor, "kimi-k2-sim", "--data", "samples.jsonl", "--baseline", "official.jsonl") == 0
    rows = _rows()
    assert [row["request"]["messages"][0]["role"] for row in rows] == ["system"] * 6
    assert [row["data_index"] for row in rows] == [1, 3, 5, 7, 9, 11]  # lines, as it counts them
    sorted_text = json.dumps(rows[0]["request"], sort_keys=True, ensure_ascii=False)
    assert rows[0]["hash"] == hashlib.md5(sorted_text.encode(), usedforsecurity=False).hexdigest()  # of its own making
    assert _summary()["moongate"]["raw"]["triggers"] == {"tp": 5, "fp": 1, "fn": 0, "tn": 0}


def test_a_run_does_not_go_on_with_other_samples(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    samples = Path("samples.jsonl")
    samples.write_text('{"messages": [{"role": "user", "content": "one"}]}\n')
    assert _verify(vendor, "kimi-k2-sim", "--data", "samples.jsonl") == 0
    assert _verify(vendor, "kimi-k2-sim", "--data", "samples.jsonl", "--resume") == 0
    samples.write_text('{"messages": [{"role": "user", "content": "two"}]}\n')
    assert _verify(vendor, "kimi-k2-sim", "--data", "samples.jsonl", "--resume") == 2
    assert "the run there has data 'samples.jsonl (sha256 " in capsys.readouterr().err


def test_a_budget_and_a_maximum_end_a_run(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert _verify(vendor, "kimi-k2-sim", "--suite", "tools", "--max", "7") == 0
    assert _summary()["moongate"]["samples"] == 7
    assert _verify(vendor, "kimi-k2-sim", "--budget", "3k", "--concurrency", "1", out="small") == 0
    assert 3000 <= _summary("small")["moongate"]["tokens"] < 6000
    assert "not all was asked: the budget is used up" in capsys.readouterr().err


@pytest.mark.parametrize("budget", ["3k", "$0.01"])
def test_a_budget_ends_a_run_whose_answers_say_no_usage(
    vendor: SimServer, budget: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Streams of clients that do not ask for it."""
    bodies = [{"messages": [{"role": "user", "content": f"{n} hello" * 40}], "stream": True} for n in range(90)]
    Path("samples.jsonl").write_text("\n".join(map(json.dumps, bodies)))
    model = {"name": "kimi-k2-sim", "price": {"input": 20, "output": 80}}
    write({"name": "p", "api_base_url": vendor.url, "models": [model], "transformer": {"use": ["Kimi"]}})
    arguments = ["--data", "samples.jsonl", "--concurrency", "1", "--budget", budget, "--out", "out"]
    assert run(["verify", "p,kimi-k2-sim", *arguments]) == 0
    ours = _summary()["moongate"]
    assert (ours["end"], ours["tokens"], ours["cost_micros"]) == ("the budget is used up", 0, None)
    assert 0 < ours["samples"] < 90
    assert f"about {ours['tokens_estimated']:,} more tokens in answers that say no usage" in capsys.readouterr().out


def test_usage_in_a_choice_is_counted(vendor: SimServer) -> None:
    for model in ("kimi-k2-sim", "kimi-k2-sim-usage-in-choices"):
        assert _verify(vendor, model, "--suite", "tools", out=model) == 0
    first, second = (_summary(out)["moongate"] for out in ("kimi-k2-sim", "kimi-k2-sim-usage-in-choices"))
    assert (first["tokens"], first["tokens_estimated"]) == (second["tokens"], second["tokens_estimated"])
    assert second["raw"]["faults"]["missing_usage"]["hits"] == second["samples"]


def test_a_budget_of_money_needs_prices(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    model = {"name": "kimi-k2-sim", "price": {"input": 10, "output": 30}}
    write({"name": "p", "api_base_url": vendor.url, "models": [model], "transformer": {"use": ["Kimi"]}})
    assert run(["verify", "p,kimi-k2-sim", "--budget", "$0.05", "--concurrency", "2", "--out", "out"]) == 0
    cost = _summary()["moongate"]["cost_micros"]
    assert 50_000 <= cost < 80_000  # what is under way is still waited for
    assert cost == sum(row["moongate"]["cost_micros"] or 0 for row in _rows())  # a refusal has no usage
    assert f"cost ${cost / 1e6:.4f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "more",
    [
        ["--suite", "nonsense"],
        ["--fail-under", "beauty=1"],
        ["--budget", "a lot"],
        ["--budget", "2usd"],
        ["--data", "absent"],
        ["--suite", ","],
        ["--baseline", "absent"],
    ],
)
def test_a_wrong_command_line_is_exit_2(vendor: SimServer, more: list[str]) -> None:
    assert _verify(vendor, "kimi-k2-sim", *more) == 2


def test_nobody_there_is_exit_3(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        assert run(["verify", "--base-url", url, "--model", "kimi-k2", "--retries", "0"]) == 3
    assert "the vendor does not answer" in capsys.readouterr().err


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
    assert run(["verify", "compare", "a", "b", "--json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert [compared[name]["model"] for name in "ab"] == models
    assert run(["verify", "compare", "a"]) == 2
    assert all("canary" not in path.read_text() for path in Path("a").iterdir())


def test_the_named_model_is_asked_whatever_stands_before_it(
    vendor: SimServer, capsys: pytest.CaptureFixture[str]
) -> None:
    native = {"name": "n", "api_base_url": "http://127.0.0.1:9", "api_key": "sk-1", "models": ["kimi-k3", "kimi-k4"]}
    chat = {"name": "p", "api_base_url": vendor.url, "models": ["kimi-k2-sim-500", "kimi-k2-sim"]}
    both = {"targets": ["p,kimi-k2-sim", "p,kimi-k2-sim-500"], "strategy": "quality"}
    write({"providers": [{**native, "dialect": "anthropic"}, chat], "routes": {"kimi": both}})
    assert run(["verify", "p,kimi-k2-sim", "--suite", "tools", "--max", "2", "--out", "out"]) == 0
    assert _summary()["moongate"]["target"] == "p,kimi-k2-sim"
    for name, said in {
        "n,kimi-k3": "n,kimi-k3: its provider speaks anthropic: only chat completions can be verified",
        "kimi": "kimi: stands for several models: name one, p,kimi-k2-sim or p,kimi-k2-sim-500",
    }.items():
        assert run(["verify", name, "--out", "other"]) == 2
        assert said in capsys.readouterr().err


def test_a_refused_key_or_model_is_exit_2(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert _verify(vendor, "kimi-k2-sim-nonsense") == 2
    assert "refuses key, model or address: the simulator cannot play 'nonsense'" in capsys.readouterr().err
    assert len(_rows()) < 20  # it gives up early
    address = ["--base-url", vendor.url, "--model", "kimi-k2-sim", "--out", "odd"]
    assert run(["verify", *address, "--key-env", "ODD"], ODD="sk-schl\xfcssel") == 2
    assert "characters that no key may have" in capsys.readouterr().err
    write({"name": "p", "api_base_url": vendor.url, "api_key": "sk-canary-1234", "models": ["kimi-k2-sim"]})
    assert run(["verify", "p,kimi-k2-sum"]) == 2
    assert "kimi-k2-sim" in capsys.readouterr().err


def test_no_answer_at_all_is_exit_3(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert _verify(vendor, "kimi-k2-sim-500", "--suite", "tools", "--max", "3", "--retries", "0") == 3
    assert "no request got an answer" in capsys.readouterr().err


def test_pages_instead_of_answers_are_exit_3(upstream: Scripted, capsys: pytest.CaptureFixture[str]) -> None:
    async def page(asked: Asked) -> None:
        asked.document(b"<html>Welcome</html>")

    upstream.play = page
    assert run(["verify", "--base-url", upstream.url, "--model", "kimi-k2", "--max", "3", "--out", "out"]) == 3
    assert "no request got an answer" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        *(
            (["verify", option, number], f"argument {option}: a whole number from 1 is wanted")
            for option in ("--max", "--runs", "--concurrency")
            for number in ("0", "-1", "1.5", "many", "²")
        ),
        (["verify", "--retries", "-1"], "argument --retries: a whole number from 0 is wanted"),
        *(
            (["verify", "--timeout", seconds], "argument --timeout: a number of seconds above 0 is wanted")
            for seconds in ("0", "-1", "nan", "soon")
        ),
        (["check", "--live", "--timeout", "0"], "argument --timeout: a number of seconds above 0 is wanted"),
    ],
)
def test_numbers_that_mean_nothing_are_refused(
    arguments: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        run(arguments)
    assert wanted in capsys.readouterr().err


@pytest.mark.parametrize(("suite", "retries"), [("tools", 2), ("stream", 4), ("multiturn", 4)])
def test_failed_requests_are_sent_again(vendor: SimServer, suite: str, retries: int) -> None:
    """Two samples; those of the last two suites ask twice."""
    assert _verify(vendor, f"kimi-k2-sim-500-once-seed-{retries + len(suite)}", "--suite", suite, "--max", "2") == 0
    ours = _summary()["moongate"]
    assert (ours["retries"], ours["raw"]["rates"]["success"]["value"]) == (retries, 1.0)


def _command(url: str, out: str, *more: str) -> list[str]:
    address = ["--base-url", url, "--model", "kimi-k2-sim-leaked-markers"]  # each turn is damaged, whenever it comes
    return [*address, "--suite", "tools,schema", "--out", out, *more]


def _comparable(out: str) -> dict[str, Any]:
    summary = _summary(out)
    return {name: value for name, value in summary.items() if not name.startswith("eval_")}


def test_a_run_killed_at_random_moments_goes_on_to_the_same_summary(vendor: SimServer, tmp_path: Path) -> None:
    assert run(["verify", *_command(vendor.url, "whole", "--runs", "8")]) == 0
    command = _command(vendor.url, "killed", "--runs", "8", "--concurrency", "2", "--resume")
    results, chance, grown = Path("killed/results.jsonl"), Random(18), 0
    for _ in range(by_length(5, 10)):
        process = subprocess.Popen(
            [sys.executable, "-m", "moongate", "verify", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        end = time.monotonic() + TIMEOUT
        wanted = grown + chance.randrange(1, 100_000)
        while process.poll() is None and time.monotonic() < end:
            if results.exists() and results.stat().st_size > wanted:
                break
            time.sleep(0.002)
        process.kill()
        process.wait(TIMEOUT)
        grown = results.stat().st_size if results.exists() else 0
    assert run(["verify", *command]) == 0
    assert _comparable("killed") == _comparable("whole")
    assert Path("killed/results.jsonl").read_bytes().count(b"\n") == len(_rows("whole"))


def test_what_a_vendor_has_taught_does_not_depend_on_how_often_a_run_was_begun(vendor: SimServer) -> None:
    """Each process learns the rules anew, and so does each of the requests that are under way at once."""
    target = ["kimi-k3-sim-moonshot-walls", "--suite", "contract,schema"]
    assert _verify(vendor, *target, "--concurrency", "1", out="whole") == 0
    assert _verify(vendor, *target, out="halves") == 0
    results = Path("halves/results.jsonl")
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(lines[::2]))
    assert _verify(vendor, *target, "--resume", out="halves") == 0
    assert _comparable("halves") == _comparable("whole")
    assert _summary("whole")["moongate"]["learned"] == ["sampling", "tool_name"]


def test_ctrl_c_writes_what_there_is_and_a_terminal_sees_the_progress(vendor: SimServer, tmp_path: Path) -> None:
    """On a pseudo-terminal, as a person has it."""
    command = [sys.executable, "-m", "moongate", "verify", *_command(vendor.url, "stopped", "--runs", "200")]
    master, terminal = os.openpty()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=terminal, env={**os.environ, "HOME": str(tmp_path)}
    )
    os.close(terminal)
    shown = b""
    while b" left  " not in shown or b"/21400" not in shown:
        shown += os.read(master, 4096)
    process.send_signal(signal.SIGINT)
    assert process.wait(TIMEOUT) == 130
    with contextlib.suppress(OSError):  # the terminal is gone when the process is
        while more := os.read(master, 4096):
            shown += more
    os.close(master)
    assert re.search(r"\d+/21400  [\d.]+/s  [\d:]+ left  [\d,]+ tokens, unknown", shown.decode())
    assert "not all was asked: interrupted" in shown.decode()
    summary = _summary("stopped")
    assert summary["moongate"]["end"] == "interrupted"
    assert 0 < summary["moongate"]["samples"] == len(_rows("stopped")) < 21400
    assert {path.name for path in Path("stopped").iterdir()} >= {"report.html", "junit.xml", "summary.json"}


def test_a_full_disk_is_told_and_the_run_goes_on_from_there(vendor: SimServer, tmp_path: Path) -> None:
    command = _command(vendor.url, "out", "--resume")
    limited = [sys.executable, "-c", FULL_DISK, *command]
    environ = {**os.environ, "HOME": str(tmp_path)}
    ended = subprocess.run(limited, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=environ)
    assert ended.returncode == 2
    assert ended.stderr == "moongate: out/results.jsonl: cannot be written: File too large\n"
    assert run(["verify", *command]) == 0
    assert _summary()["moongate"]["samples"] == len(_rows()) > 90


def test_results_are_not_overwritten(vendor: SimServer, capsys: pytest.CaptureFixture[str]) -> None:
    assert _verify(vendor, "kimi-k2-sim", "--max", "3") == 0
    assert _verify(vendor, "kimi-k2-sim", "--max", "3") == 2
    assert "--resume goes on" in capsys.readouterr().err
    assert _verify(vendor, "kimi-k2-sim", "--max", "4", "--resume") == 2
    assert _verify(vendor, "kimi-k2-sim", "--max", "3", "--resume", "--use", '[["Kimi", {"guard": "off"}]]') == 2
    assert _verify(vendor, "kimi-k2-sim", "--max", "3", "--resume") == 0
