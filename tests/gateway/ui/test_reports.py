"""What the pages show besides requests: the last report of `moongate verify`, and the gateways that share a state."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path

import pytest
from tests.cli.sample import run
from tests.gateway.ui.running import HOSTILE, pages, until
from tests.support.background import Background
from tests.support.redis_server import RedisServer

from moongate.gateway.inspect.verify_reports import MAX_BYTES, last_reports, remember_report
from moongate.gateway.ui.verify_section import verify_section
from moongate.sim.server import start

SUMMARY = {"eval_finished_at": "2026-11-18T10:00:00+00:00", "moongate": {"target": "p,m", "samples": 3, "worst": ["x"]}}


def test_the_last_report_of_each_target_is_kept(tmp_path: Path) -> None:
    assert last_reports(None) == last_reports(tmp_path) == {}
    remember_report(tmp_path, SUMMARY, Path("out"))
    remember_report(tmp_path, {**SUMMARY, "eval_finished_at": "later"}, Path("out"))
    [(name, report)] = last_reports(tmp_path).items()
    assert (name, report["finished"], report["samples"]) == ("p,m", "later", 3)
    assert "worst" not in report
    assert report["place"] == str(Path("out").absolute())


def test_files_that_are_no_reports_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "verify"
    folder.mkdir()
    for number, data in enumerate((b"", b"[]", b'{"target":5}', b'{"target":"x","a":"' + b"a" * MAX_BYTES + b'"}')):
        (folder / f"{number}.json").write_bytes(data)
    (folder / "a.json").mkdir()
    assert last_reports(tmp_path) == {}


@pytest.mark.parametrize("report", [{}, {"raw": 5}, {"raw": {"rates": {"f1": {"value": 0.5, "interval": "x"}}}}])
def test_any_report_is_shown(report: dict[str, object]) -> None:
    assert "verify" in verify_section(report)


def test_hostile_text_in_a_report_stays_text() -> None:
    assert "<script>" not in verify_section({"end": HOSTILE, "place": HOSTILE, "finished": HOSTILE}, HOSTILE)


def test_a_run_of_verify_is_on_the_page_of_vendors(tmp_path: Path) -> None:
    with pages(tmp_path) as ui, Background() as background, chdir(tmp_path):
        ui.log_in()
        ui.row(ui.ask())
        vendor = background.start(start())
        provider = {"name": "p", "api_base_url": vendor.url, "api_key": "sk-simulated", "models": ["m"]}
        Path("other.json").write_text(json.dumps({"providers": [provider]}))
        home = {"MOONGATE_HOME": str(tmp_path / "home")}
        code = run(["verify", "p,m", "-c", "other.json", "--suite", "tools", "--max", "4", "--out", "out"], **home)
        assert code in (0, 1)
        text = ui.get("/ui/vendors").body.decode()
        assert "4 samples" in text
        assert "tool cases passed" in text
        assert str(Path("out").absolute()) in text


@pytest.mark.needs("redis")
def test_nodes_are_on_the_page_of_the_configuration(tmp_path: Path) -> None:
    redis = RedisServer()
    try:
        with pages(tmp_path, state={"url": redis.url, "node": "here"}) as ui:
            ui.log_in()

            def shown(words: str) -> bool:
                return words in ui.get("/ui/configuration").body.decode()

            until(lambda: shown(">here<") and not shown("does not reach"))
            redis.kill()
            until(lambda: shown("does not reach"))
    finally:
        redis.stop()
