"""The systemd unit and the Dockerfile: unprivileged, hardened, and with commands that work."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.canary import PROVIDER_KEY

from moongate.cli import COMMANDS
from moongate.cli.shared_folder import shared_folder
from moongate.gateway.server.workers import KILL_SECONDS, SILENT_SECONDS

ROOT = Path(__file__).parent.parent
SOCKET = (ROOT / "deploy" / "moongate.socket").read_text(encoding="utf-8")
UNIT = (ROOT / "deploy" / "moongate.service").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
HARDENING = {
    "DynamicUser": "yes",
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "AmbientCapabilities": "",
    "ProtectSystem": "strict",
    "ReadOnlyPaths": "-/run/lock -/dev/shm",  # which strict leaves open
    "PrivateIPC": "yes",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "ProtectKernelTunables": "yes",
    "ProtectKernelModules": "yes",
    "ProtectControlGroups": "yes",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "RestrictNamespaces": "yes",
    "RestrictSUIDSGID": "yes",
    "LockPersonality": "yes",
    "SystemCallArchitectures": "native",
    "UMask": "0077",
}


def unit() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^([A-Za-z]+)=(.*)$", UNIT, re.M):
        found.setdefault(name, []).append(value)
    return found


def steps() -> list[tuple[str, str]]:
    """The instructions of the Dockerfile, each on one line."""
    lines = [line for line in DOCKERFILE.splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines())]


def test_the_unit_is_hardened() -> None:
    found = unit()
    assert {name: found.get(name, ["?"])[-1] for name in HARDENING} == HARDENING
    assert "@system-service" in found["SystemCallFilter"]
    assert "User" not in found  # a passing user of its own


def test_the_unit_lets_the_drain_end() -> None:
    assert int(unit()["TimeoutStopSec"][0]) > 30


def test_the_unit_reads_the_file_itself_so_that_a_reload_reads_the_new_one() -> None:
    found = unit()
    assert found["ExecReload"] == ["/bin/kill -HUP $MAINPID"]
    program, command, *arguments = shlex.split(found["ExecStart"][0])
    assert program.endswith("/bin/moongate")
    assert command in COMMANDS
    assert arguments == ["--config", "/etc/moongate/config.json"]
    assert "LoadCredential" not in found  # systemd copies it at the start only


def test_the_unit_does_not_try_a_wrong_configuration_again() -> None:
    assert unit()["Restart"] == ["on-failure"]
    assert unit()["RestartPreventExitStatus"] == ["2"]  # as `serve --help` says


def test_the_unit_notifies_and_is_watched() -> None:
    found = unit()
    assert found["Type"] == ["notify"]
    assert found["NotifyAccess"] == ["main"]
    assert int(found["WatchdogSec"][0]) > SILENT_SECONDS + KILL_SECONDS  # the parent replaces one worker before
    assert found["MemoryMax"] == ["2G"]
    assert found["LimitCORE"] == ["0"]  # the memory holds keys and prompts


@pytest.mark.needs("systemd")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    program = tmp_path / "moongate"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    service, listening = tmp_path / "moongate.service", tmp_path / "moongate.socket"
    service.write_text(UNIT.replace("/opt/moongate/bin/moongate", str(program)))
    listening.write_text(SOCKET)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", service, listening], capture_output=True, text=True, check=False
    )
    complaints = [line for line in done.stderr.splitlines() if "moongate." in line]
    assert complaints == [], done.stderr


def test_the_image_runs_as_an_unprivileged_user() -> None:
    users = [rest for name, rest in steps() if name == "USER"]
    assert users
    user, group = users[-1].split(":")
    assert user.isdecimal()
    assert int(user) > 0
    assert group == user
    made = [rest for name, rest in steps() if name == "RUN" and rest.startswith("useradd ")]
    assert [f"--uid {user} --user-group " in each for each in made] == [True]  # so that the group has a name too
    last = max(index for index, (name, _) in enumerate(steps()) if name == "USER")
    assert not [rest for name, rest in steps()[last:] if name in ("RUN", "COPY", "ADD")]
    assert [rest for name, rest in steps() if name == "ADD"] == []


def test_the_image_installs_only_what_is_locked() -> None:
    parts = [part.strip() for name, rest in steps() if name == "RUN" for part in rest.split("&&")]
    installs = [part for part in parts if "pip install " in part]
    locked = [part for part in installs if "--require-hashes" in part]
    assert len(locked) == 2
    (built,) = (part for part in parts if "pip wheel " in part)
    assert "--no-deps --no-build-isolation" in built
    (ours,) = (part for part in installs if part not in locked)
    assert ours.endswith("--no-deps /wheel/moongate-*.whl")
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    for name, rest in steps():
        if name == "COPY" and "--from" not in rest:
            *sources, _ = rest.split()
            assert all((ROOT / source).exists() for source in sources)
            assert ignored[0] == "*"
            assert all(f"!{source}" in ignored for source in sources)


def test_the_image_s_commands_are_ours() -> None:
    found = dict(steps())
    entry, arguments = json.loads(found["ENTRYPOINT"]), json.loads(found["CMD"])
    assert entry == ["/opt/moongate/bin/moongate"]
    shown = subprocess.run([sys.executable, "-m", "moongate", arguments[0], "--help"], capture_output=True, check=True)
    assert all(each.encode() in shown.stdout for each in arguments if each.startswith("--"))
    compile(json.loads(found["HEALTHCHECK"].partition(" CMD ")[2])[2], "HEALTHCHECK", "exec")


def test_the_example_s_configuration_is_good(tmp_path: Path) -> None:
    """As an image would be tried: in a folder of its own, with nothing in the environment but the key."""
    environment = {"PATH": os.defpath, "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "MOONSHOT_API_KEY": PROVIDER_KEY}
    command = [sys.executable, "-m", "moongate", "check", "--config", str(ROOT / "examples" / "config.json")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert PROVIDER_KEY not in done.stdout + done.stderr


def test_nothing_but_memory_need_be_writable(tmp_path: Path) -> None:
    """With several workers; one worker needs no file at all."""
    found = shared_folder(str(tmp_path / "missing"), str(tmp_path))
    assert found is not None
    assert found.parent == tmp_path
