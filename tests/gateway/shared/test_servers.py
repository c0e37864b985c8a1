"""Redis and Valkey as they are set up: passwords, users, databases, TLS, sockets, and one node of a cluster."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.gateway.shared.shared_nodes import TEAM, Ledger, Node, admitted, granted, nodes, run, until
from tests.support.certificates import CertificateAuthority
from tests.support.redis_server import RedisServer, valkey_program
from tests.support.requirement_hooks import require

from moongate.gateway.limits.limit_set import LimitSet

PASSWORD = "canary free/password"  # with what a URL must quote
QUOTED = "canary%20free%2Fpassword"


@dataclass(frozen=True)
class SetUp:
    """`url` is made of the server's port and folder."""

    name: str
    url: Callable[[RedisServer], str]
    options: dict[str, str] = field(default_factory=dict)
    commands: tuple[tuple[str, ...], ...] = ()


SET_UPS = (
    SetUp("plain", lambda server: server.url),
    SetUp("socket", lambda server: f"unix://{server.folder}/socket"),
    SetUp("password", lambda server: f"redis://:{QUOTED}@127.0.0.1:{server.port}/3", {"requirepass": PASSWORD}),
    SetUp(
        *("user", lambda server: f"redis://gate:{QUOTED}@127.0.0.1:{server.port}/2"),
        commands=(("ACL", "SETUSER", "gate", "on", f">{PASSWORD}", "~moongate:*", "+@all"),),
    ),
    SetUp(
        *("cluster", lambda server: server.url, {"cluster-enabled": "yes"}),
        commands=(("CLUSTER", "ADDSLOTSRANGE", "0", "16383"),),
    ),
)


@pytest.fixture(params=["redis", "valkey"])
def program(request: pytest.FixtureRequest) -> str:
    require("redis")
    if request.param == "redis":
        found = shutil.which("redis-server")
        if found is None:
            pytest.skip("redis-server is not installed (Debian: apt install redis-server)")
        return found
    return valkey_program()


@pytest.fixture(params=SET_UPS, ids=lambda each: each.name)
def server(program: str, request: pytest.FixtureRequest) -> Iterator[tuple[RedisServer, str]]:
    set_up: SetUp = request.param
    made = RedisServer(program=program, options=set_up.options)
    for command in set_up.commands:
        made.command(*command)
    while "cluster_state:fail" in made.command("CLUSTER", "INFO"):  # until it has noticed that it has all slots
        time.sleep(0.05)
    yield made, set_up.url(made)
    made.stop()


async def everything(made: list[Node]) -> None:
    """Every verb of the script, over accounts of a key and its team."""
    one, other = made
    key, team = LimitSet(rpm=600, tpm=60_000, budget=1000), LimitSet(concurrency=3)
    first = await granted(one, one.account(key), tokens=5, prompt=3, cost=100)
    first.settle(7, 90)
    first.release()
    found = await asyncio.gather(
        *(node.begin(node.account(LimitSet(rpm=600)), node.account(team, TEAM, "team")) for node in (one, other) * 4)
    )
    assert len(admitted(found)) == 3
    one.state.limits.renew()
    one.state.signals.learned("sim,kimi", "a_rule")
    await until(lambda: "a_rule" in other.learned)
    for admission in admitted(found):
        admission.release()
    assert [node.messages for node in made] == [[], []]
    assert [node.untold for node in made] == [0, 0]


def test_limits_are_shared(server: tuple[RedisServer, str]) -> None:
    _, url = server

    async def test() -> None:
        async with nodes(server[0], url=url) as made:
            await everything(made)

    run(test)


def test_a_wrong_password_is_told_without_it(program: str) -> None:
    server = RedisServer(program=program, options={"requirepass": PASSWORD})
    try:

        async def test() -> None:
            node = Node(server, "a", Ledger(), url=f"redis://:{QUOTED}x@127.0.0.1:{server.port}")
            node.state.start(node)
            await until(lambda: bool(node.messages))
            node.state.close()
            assert "WRONGPASS" in node.messages[0]
            assert "canary" not in node.messages[0]

        run(test)
    finally:
        server.stop()


@pytest.mark.needs("redis")
def test_tls_with_an_authority_of_our_own(tmp_path: Path) -> None:
    """Debian's Redis: the package of Valkey is built without TLS."""
    found = shutil.which("redis-server")
    if found is None:
        pytest.skip("redis-server is not installed (Debian: apt install redis-server)")
    authority = CertificateAuthority.make(tmp_path)
    certificate, key = authority.sign("localhost")
    os.chmod(key, stat.S_IRUSR | stat.S_IWUSR)
    tls = {"tls-cert-file": certificate, "tls-key-file": key, "tls-ca-cert-file": authority.file}
    plain = RedisServer(program=found)
    port = plain.port
    plain.stop()
    server = RedisServer(program=found, options={**tls, "port": "0", "tls-port": str(port), "tls-auth-clients": "no"})
    try:

        async def test() -> None:
            url = f"rediss://localhost:{port}"
            async with nodes(server, url=url, ca_file=authority.file) as made:
                await everything(made)
            stranger = Node(server, "a", Ledger(), url=url)
            stranger.state.start(stranger)
            await until(lambda: bool(stranger.messages))
            stranger.state.close()
            assert "certificate verify failed" in stranger.messages[0]

        run(test)
    finally:
        server.stop()
