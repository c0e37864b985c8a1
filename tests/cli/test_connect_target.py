"""`moongate connect` finds the gateway that runs, wherever it was started and wherever it listens."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import CONFIG
from tests.cli.served import serving

from moongate.cli import main
from moongate.cli.console import Console
from moongate.cli.running_gateways import FOLDER, GatewayRecord, RunningFile, client_url, running_gateways

# Both gateways of this file have the same home, as those of one person do.
FILE = {**CONFIG, "port": 3000, "workers": 2}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("person")


@pytest.fixture(scope="module")
def gateways(root: Path) -> Iterator[dict[str, str]]:
    """One with a configuration, whose port is overridden; one with the simulator."""
    with ExitStack() as stack:
        found: dict[str, str] = {}
        for name in ("configured", "simulated"):
            folder = root / name
            folder.mkdir()
            if name == "configured":
                (folder / "config.json").write_text(json.dumps(FILE))
            served = stack.enter_context(serving(folder, MOONGATE_HOME=str(root / "home")))
            found[name] = served.root()
        yield found


def connect(root: Path, folder: Path, *arguments: str, home: str = "home") -> int:
    console = Console({"HOME": str(folder), "MOONGATE_HOME": str(root / home)}, interactive=False)
    before = Path.cwd()
    os.chdir(folder)
    try:
        return main(["connect", "claude-code", *arguments], console)
    finally:
        os.chdir(before)


def written(folder: Path) -> Any:
    return json.loads((folder / ".claude" / "settings.json").read_text())["env"]


def test_the_port_is_the_one_at_which_the_configured_gateway_runs(root: Path, gateways: dict[str, str]) -> None:
    folder = root / "configured"
    assert connect(root, folder, "--write") == 0
    assert written(folder)["ANTHROPIC_BASE_URL"] == gateways["configured"]
    assert written(folder)["ANTHROPIC_MODEL"] == "kimi-k2"
    # From elsewhere the configuration is named; the address is found all the same.
    other = root / "project"
    other.mkdir(exist_ok=True)
    assert connect(root, other, "--write", "--config", "../configured/config.json") == 0
    assert written(other) == written(folder)


def test_from_another_folder_one_of_several_must_be_chosen(
    root: Path, gateways: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert connect(root, tmp_path, "--write") == 2
    error = capsys.readouterr().err
    assert "--url: several gateways are running, choose one: " in error
    assert f"{gateways['configured']} ({root / 'configured' / 'config.json'})" in error
    assert f"{gateways['simulated']} (the built-in simulator)" in error
    assert connect(root, tmp_path, "--write", "--url", gateways["configured"]) == 0
    assert written(tmp_path)["ANTHROPIC_MODEL"] == "kimi-k2"
    assert written(tmp_path)["ANTHROPIC_AUTH_TOKEN"] == "client-canary-1"
    assert "for the gateway that is running: " in capsys.readouterr().out
    assert connect(root, tmp_path, "--write", "--url", gateways["simulated"], "--model", "kimi-k2-sim-markers") == 0
    assert written(tmp_path)["ANTHROPIC_MODEL"] == "kimi-k2-sim-markers"
    assert connect(root, tmp_path, "--url", gateways["simulated"], "--model", "kimi-k2") == 2


def test_a_gateway_of_somebody_else_is_asked_for_its_models(
    root: Path, gateways: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("--url", gateways["configured"], "--key", "client-canary-1")
    assert connect(root, tmp_path, "--write", *at, home="elsewhere") == 0
    assert written(tmp_path)["ANTHROPIC_MODEL"] == "kimi-k2"
    assert connect(root, tmp_path, "--write", *at, "--model", "bst", home="elsewhere") == 2
    assert "--model: the gateway at " in (error := capsys.readouterr().err)
    assert "does not list 'bst', did you mean 'best'?" in error
    assert connect(root, tmp_path, *at[:2], "--key", "wrong", home="elsewhere") == 2
    assert "--key: the gateway at " in capsys.readouterr().err


def test_an_address_without_a_gateway(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nobody = ("--url", "http://127.0.0.1:9")
    assert connect(root, tmp_path, *nobody, home="elsewhere") == 2
    assert "--url: no gateway answers at http://127.0.0.1:9: start it first" in capsys.readouterr().err
    assert connect(root, tmp_path, *nobody, "--model", "m", "--write", home="elsewhere") == 0
    assert "it is not known whether it has the model 'm'" in capsys.readouterr().err
    assert written(tmp_path)["ANTHROPIC_MODEL"] == "m"
    for wrong in ("gate:3000", "http://", "http://gate:x", "file:///x"):
        assert connect(root, tmp_path, "--url", wrong, home="elsewhere") == 2
        assert "--url: expected a URL such as http://127.0.0.1:3000\n" in capsys.readouterr().err


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_gateway_that_has_ended_is_not_found(ending: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**FILE, "workers": 1}))
    with serving(tmp_path) as served:
        url = served.root()
        (found,) = running_gateways(tmp_path / "home")
        assert (found.url, found.config) == (url, tmp_path / "config.json")
        assert found.admin.startswith("http://127.0.0.1:")
        served.process.send_signal(ending)
        served.end()
        end = time.monotonic() + 60
        while running_gateways(tmp_path / "home"):  # the kernel may close the files of a killed process a little later
            assert time.monotonic() < end
            time.sleep(0.05)
        assert list((tmp_path / "home" / FOLDER).iterdir()) == []


def test_a_gateway_whose_folder_cannot_be_written_serves_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    record = RunningFile(tmp_path / "file")
    record.write(GatewayRecord("http://127.0.0.1:1", None))
    record.remove()
    assert running_gateways(tmp_path / "file") == []


def test_a_file_that_holds_no_record_is_passed_over(tmp_path: Path) -> None:
    record = RunningFile(tmp_path)
    record.write(GatewayRecord("http://127.0.0.1:1", None))
    assert running_gateways(tmp_path) == [GatewayRecord("http://127.0.0.1:1", None)]
    (file,) = (tmp_path / FOLDER).iterdir()
    file.write_bytes(b"[]")
    assert running_gateways(tmp_path) == []
    record.remove()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:8"),
        ("::", "http://[::1]:8"),
        ("fd00::1", "http://[fd00::1]:8"),
        ("gate", "http://gate:8"),
    ],
)
def test_addresses_are_those_that_clients_see(host: str, url: str) -> None:
    assert client_url(host, 8) == url
