"""How providers are reached, over real sockets: a CONNECT proxy, certificates on both sides, several addresses."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from tests.gateway.scripted import Asked, Scripted
from tests.support.background import Background
from tests.support.certificates import CertificateAuthority
from tests.support.gateway import RunningGateway, run_gateway
from tests.support.http import Reply, post

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


class ConnectProxy:
    """Takes CONNECT and nothing else; `tunnels` remembers whereto."""

    def __init__(self) -> None:
        self.tunnels: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> ConnectProxy:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def stop(self) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._tunnel(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, _ = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0].decode().split(" ")
        assert method == "CONNECT"
        self.tunnels.append(target)
        host, _, port = target.rpartition(":")
        far_reader, far_writer = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority.make(tmp_path_factory.mktemp("authority"))


def ask(gateway: RunningGateway) -> Reply:
    return post(gateway.root + "/v1/chat/completions", REQUEST, key=gateway.key)


def config(url: str | list[str], **more: Any) -> dict[str, Any]:
    provider = {"name": "p", "api_base_url": url, "models": ["m"], **more}
    return {"providers": [provider], "retries": {"retries": 0}}


def test_the_proxy_of_the_environment(authority: CertificateAuthority) -> None:
    with Background() as background:
        upstream = background.start(Scripted(tls=authority.server_context()).start())
        proxy = background.start(ConnectProxy().start())
        other = background.start(ConnectProxy().start())
        environment = {"HTTPS_PROXY": f"http://{proxy.address}"}
        given = config(upstream.url, ca_file=authority.file)
        with run_gateway(given, environment=environment) as gateway:
            assert ask(gateway).status == 200
            assert proxy.tunnels == [upstream.url.removeprefix("https://")]
        with run_gateway(given, environment={**environment, "NO_PROXY": "localhost"}) as gateway:
            assert ask(gateway).status == 200
        with run_gateway(
            config(upstream.url, ca_file=authority.file, proxy="none"), environment=environment
        ) as gateway:
            assert ask(gateway).status == 200
        assert len(proxy.tunnels) == 1
        wins = config(upstream.url, ca_file=authority.file, proxy=f"http://{other.address}")
        with run_gateway(wins, environment=environment) as gateway:
            assert ask(gateway).status == 200
        assert (len(proxy.tunnels), len(other.tunnels), len(upstream.seen)) == (1, 1, 4)


def test_a_certificate_of_our_own(authority: CertificateAuthority) -> None:
    cert, key = authority.sign("gateway")
    with Background() as background:
        upstream = background.start(Scripted(tls=authority.server_context(asks_clients=True)).start())
        with run_gateway(config(upstream.url, ca_file=authority.file, cert_file=cert, key_file=key)) as gateway:
            assert ask(gateway).status == 200
        with run_gateway(config(upstream.url, ca_file=authority.file)) as gateway:
            reply = ask(gateway)
            assert reply.status == 502, "who shows no certificate is not answered"
        assert len(upstream.seen) == 1


def test_several_addresses_are_one_provider() -> None:
    async def failing(asked: Asked) -> None:
        asked.document({"error": {"message": "going down"}}, 503)

    with Background() as background:
        first, second = (background.start(Scripted().start()) for _ in range(2))
        urls = [first.url, second.url]
        with run_gateway(config(urls)) as gateway:
            assert [ask(gateway).status for _ in range(6)] == [200] * 6
            assert (len(first.seen), len(second.seen)) == (3, 3)
            background.run(first.stop())
            assert [ask(gateway).status for _ in range(6)] == [200] * 6, "one is gone: the other answers"
            assert len(second.seen) == 9
            second.play = failing
            reply = ask(gateway)
            assert reply.status == 503
            assert f"provider 'p' ({', '.join(urls)})" in reply.json()["error"]["message"]
        third = background.start(Scripted().start())
        retrying = {**config([second.url, third.url]), "retries": {"retries": 1, "backoff": 0.01}}
        with run_gateway(retrying) as gateway:
            assert [ask(gateway).status for _ in range(4)] == [200] * 4, "a retry goes to another address"
