"""`moongate route explain`, with and without a running gateway."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.served import CLIENT, PATH, serving
from tests.cli.test_serve_admin import admin_root, until
from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.http import get, post

from moongate.cli import main
from moongate.cli.console import Console

ADMIN = "canary-admin-key-0123456789-0123456789"
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


def configuration(url: str) -> dict[str, Any]:
    def provider(name: str, price: float) -> dict[str, Any]:
        model = {"name": "x", "price": {"input": price, "output": price}}
        return {"name": name, "api_base_url": url, "api_key": "$UPSTREAM_KEY", "models": [model]}

    return {
        "providers": [provider("a", 2.0), provider("b", 1.0)],
        "routes": {"kimi": {"targets": ["a,x", "b,x"], "strategy": "quality"}},
        "api_keys": [CLIENT],
        "admin": {"port": 0, "key": ADMIN},
        "log": {"format": "off"},
    }


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(configuration("http://127.0.0.1:9")))
    return path


def console(folder: Path) -> Console:
    return Console({"MOONGATE_HOME": str(folder / "home"), "UPSTREAM_KEY": "x"}, False)


def test_without_a_gateway_prices_and_order_are_known(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["route", "explain", "kimi", "-c", str(file), "--url", "http://127.0.0.1:9"], console(file.parent)) == 0
    found = capsys.readouterr()
    assert "no gateway answers" in found.err
    assert found.out.startswith(
        "kimi: quality, sticky, 2% of new sessions explore\na new session goes to b,x (price)\n"
    )
    assert "$1.00" in found.out
    assert "98.0%" in found.out


def test_names_with_suffixes_and_models_are_explained(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, strategy in (("kimi:cheap", "cost"), ("x:fast", "latency"), ("a,x", "ordered")):
        arguments = ["route", "explain", name, "-c", str(file), "--json", "--url", "http://127.0.0.1:9"]
        assert main(arguments, console(file.parent)) == 0
        assert json.loads(capsys.readouterr().out)["strategy"] == strategy


def test_an_unknown_name_is_an_error(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["route", "explain", "kimy", "-c", str(file), "--url", "http://127.0.0.1:9"], console(file.parent)) == 2
    assert "Did you mean 'kimi'" in capsys.readouterr().err


def test_without_a_configuration_there_is_nothing_to_explain(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"MOONGATE_CONFIG": str(tmp_path / "none.json")}
    assert main(["route", "explain", "kimi"], Console(environ, False)) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_a_running_gateway_says_what_it_has_learned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Background() as background:
        upstream = background.start(Scripted().start())
        path = tmp_path / "config.json"
        path.write_text(json.dumps(configuration(upstream.url)))
        with serving(tmp_path, "--workers", "2") as served:
            root, admin = served.root(), admin_root(served)
            for number in range(12):
                body = {"model": "kimi", "messages": [{"role": "user", "content": str(number)}], "tools": TOOLS}
                assert post(root + PATH, body, key=CLIENT).status == 200
            command = ["route", "explain", "kimi", "-c", str(path), "--url", admin, "--json"]

            def answers() -> float:
                assert main(command, console(tmp_path)) == 0
                return float(sum(row["answers"] for row in json.loads(capsys.readouterr().out)["targets"]))

            until(lambda: answers() == pytest.approx(12, abs=0.5))  # the last one counts after its last byte
            text = get(admin + "/metrics", key=ADMIN).body.decode()
            assert 'moongate_quality_score{provider="b",model="x"} 0.9' in text
            listed = get(admin + "/admin/v1/routes", key=ADMIN).json()["data"]
            assert [each["name"] for each in listed] == ["kimi"]
            assert get(admin + "/admin/v1/routes?name=nobody", key=ADMIN).status == 404
            wrong = json.loads(path.read_text()) | {"admin": {"port": 0, "key": ADMIN + "x"}}
            path.write_text(json.dumps(wrong))
            assert main(["route", "explain", "kimi", "-c", str(path), "--url", admin], console(tmp_path)) == 1
            refused = (
                f"moongate: the gateway at {admin} answered with status 401: it has another admin key; --url names"
            )
            assert capsys.readouterr().err.startswith(refused)


def test_the_log_says_what_answers_were_worth_what_they_cost_and_who_was_chosen(tmp_path: Path) -> None:
    with Background() as background:
        upstream = background.start(Scripted().start())
        settings = configuration(upstream.url) | {"log": {"format": "json"}}
        (tmp_path / "config.json").write_text(json.dumps(settings))
        with serving(tmp_path) as served:
            body = {"model": "kimi:cheap", "messages": [{"role": "user", "content": "Hi"}], "tools": TOOLS}
            assert post(served.root() + PATH, body, key=CLIENT).status == 200
            served.find('"worth"')
            (line,) = [each for each in served.lines if each["front"] == "chat"]
    assert (line["asked"], line["provider"], line["worth"]) == ("kimi:cheap", "b", "clean")
    assert line["cost_usd"] == pytest.approx(9e-6)  # 9 tokens, a dollar for a million
    assert {name: line["route"][name] for name in ("name", "strategy", "reason")} == {
        "name": "kimi",
        "strategy": "cost",
        "reason": "price",
    }
    assert line["route"]["low"] < line["route"]["score"] < line["route"]["high"]
    assert line["route"]["raw"] == 0.95
