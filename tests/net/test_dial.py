"""Names, blocked addresses, TLS and the proxy."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from tests.net.hostile import OK, Hostile, Peer, on_both_loops, repeats, run

from moongate.errors import BadUpstream, ConfigError, GatewayError, UpstreamTimeout
from moongate.net.client import HttpClient
from moongate.net.deadlines import Deadlines
from moongate.net.dial import Origin, _tls_error, is_blocked, tls_context


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.0.1",
        "0.0.0.0",
        "0.1.2.3",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "febf::1",
        "ff02::1",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
        "::ffff:0.0.0.0",
        "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::1",
    ],
)
def test_blocked_addresses(address: str) -> None:
    assert is_blocked(address)


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "8.8.8.8", "fd00::1", "2606:4700::1", "a.example"]
)
def test_other_addresses(address: str) -> None:
    assert not is_blocked(address)


@pytest.mark.parametrize(
    ("url", "host", "port", "tls", "authority"),
    [
        ("https://api.example/v1", "api.example", 443, True, "api.example:443"),
        ("http://localhost:8000", "localhost", 8000, False, "localhost:8000"),
        ("http://[::1]:8000/x", "::1", 8000, False, "[::1]:8000"),
        ("https://bücher.example", "xn--bcher-kva.example", 443, True, "xn--bcher-kva.example:443"),
    ],
)
def test_an_origin_is_read_from_a_url(url: str, host: str, port: int, tls: bool, authority: str) -> None:
    origin = Origin.parse(url, proxy="http://proxy:3128")
    assert (origin.host, origin.port, origin.tls, origin.authority) == (host, port, tls, authority)


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("ftp://a", None),
        ("https://", None),
        ("https://a:0", None),
        ("https://a:99999", None),
        ("a.example", None),
        ("https://a..b", None),
        ("http://[::1", None),
        ("http://a", "socks5://b"),
        ("http://a", "https://b"),
    ],
)
def test_bad_origins(url: str, proxy: str | None) -> None:
    with pytest.raises(ConfigError):
        Origin.parse(url, proxy=proxy)


async def refusal(client: HttpClient, connect: float = 5) -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        await client.send("GET", "/", [], b"", deadlines=Deadlines(connect=connect, head=5))
    return caught.value


@on_both_loops
@pytest.mark.parametrize("proxy", [None, "http://127.0.0.1:9"])
def test_a_metadata_address_is_refused(loop: str, proxy: str | None) -> None:
    client = HttpClient(Origin.parse("http://169.254.169.254", proxy=proxy))
    assert run(loop, refusal(client)).code == "address_refused"


@on_both_loops
def test_a_refused_connection(loop: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    error = run(loop, refusal(HttpClient(Origin("127.0.0.1", port, False))))
    assert (type(error), error.code) == (BadUpstream, "connect")
    assert "refused" in error.message


@on_both_loops
def test_an_unknown_name(loop: str) -> None:
    error = run(loop, refusal(HttpClient(Origin("nowhere.invalid", 80, False))))
    # Without a name server the look-up itself fails, or takes too long.
    codes = [(BadUpstream, "unknown_host"), (BadUpstream, "connect"), (UpstreamTimeout, "connect_timeout")]
    assert (type(error), error.code) in codes


@on_both_loops
def test_a_connection_that_is_never_accepted(loop: str) -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(full.getsockname())
        before = len(os.listdir("/proc/self/fd"))
        error = run(loop, refusal(HttpClient(Origin("127.0.0.1", full.getsockname()[1], False)), 0.2))
        for filler in fillers:
            filler.close()
        assert (type(error), error.code) == (UpstreamTimeout, "connect_timeout")
        assert len(os.listdir("/proc/self/fd")) <= before


@on_both_loops
def test_a_name_is_resolved(loop: str) -> None:
    async def main() -> None:
        async with Hostile(repeats(OK)) as hostile:
            client = HttpClient(Origin("localhost", hostile.port, False))
            response = await client.send("GET", "/", [], b"", deadlines=Deadlines())
            assert await response.read(9) == b"ok"
            client.close()

    run(loop, main())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate of `localhost` with its key, in one file."""
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", str(path), "-out", str(path) + ".crt", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(str(path) + ".crt").read_text())
    return path


class Tls(Hostile):
    """The same server over TLS."""

    def __init__(self, certificate: Path) -> None:
        super().__init__(repeats(OK))
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)

    async def __aenter__(self) -> Tls:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self.context)
        self.port = self._server.sockets[0].getsockname()[1]
        self.client = HttpClient(Origin("localhost", self.port, True))
        return self


@on_both_loops
def test_tls_with_a_known_authority(loop: str, certificate: Path) -> None:
    async def main() -> None:
        async with Tls(certificate) as server:
            client = HttpClient(Origin("localhost", server.port, True, str(certificate) + ".crt"))
            for _ in range(3):
                response = await client.send("GET", "/", [], b"", deadlines=Deadlines())
                assert await response.read(9) == b"ok"
            assert server.connections == 1
            client.close()
            await asyncio.sleep(0.05)

    run(loop, main())


@on_both_loops
def test_tls_with_an_unknown_authority(loop: str, certificate: Path) -> None:
    async def main() -> None:
        async with Tls(certificate) as server:
            before = len(os.listdir("/proc/self/fd"))
            error = await refusal(server.client)
            assert (type(error), error.code) == (BadUpstream, "certificate")
            assert "certificate" in error.message
            await asyncio.sleep(0.05)
            assert len(os.listdir("/proc/self/fd")) <= before

    run(loop, main())


@on_both_loops
def test_tls_for_another_name(loop: str, certificate: Path) -> None:
    async def main() -> None:
        async with Tls(certificate) as server:
            error = await refusal(HttpClient(Origin("127.0.0.1", server.port, True, str(certificate) + ".crt")))
            assert error.code == "certificate"
            await asyncio.sleep(0.05)

    run(loop, main())


async def plays_http(peer: Peer) -> None:
    await peer.reader.read(100)
    await peer.send(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")


@on_both_loops
def test_a_server_without_tls(loop: str) -> None:
    async def main() -> None:
        async with Hostile(plays_http) as server:
            error = await refusal(HttpClient(Origin("127.0.0.1", server.port, True)))
            assert (error.message, error.code) == ("it answers, but without TLS", "no_tls")

    run(loop, main())


@pytest.mark.parametrize(
    ("reason", "words"), [("TLSV1_ALERT_INTERNAL_ERROR", "tlsv1 alert internal error"), (None, "the connection ended")]
)
def test_other_failures_of_tls_may_get_better(reason: str | None, words: str) -> None:
    error = ssl.SSLError()
    error.reason = reason  # type: ignore[assignment]
    found = _tls_error(error)
    assert (found.message, found.code) == (f"no connection to the provider: TLS failed: {words}", "connect")


def test_tls_is_new_enough() -> None:
    context = tls_context(None)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


@on_both_loops
def test_a_proxy_is_asked_for_a_tunnel(loop: str) -> None:
    seen: list[bytes] = []

    async def proxy(peer: Peer) -> None:
        seen.append(await peer.reader.readuntil(b"\r\n\r\n"))
        await peer.send(b"HTTP/1.1 200 Connection", b" established\r\nVia: x\r\n\r\n")
        seen.append(await peer.request())
        await peer.send(OK)

    async def main() -> None:
        async with Hostile(proxy) as hostile:
            client = HttpClient(Origin.parse("http://api.invalid", proxy=f"http://me:p%40ss@127.0.0.1:{hostile.port}"))
            response = await client.send("GET", "/x", [], b"", deadlines=Deadlines())
            assert await response.read(9) == b"ok"
            client.close()

    run(loop, main())
    assert seen[0] == (
        b"CONNECT api.invalid:80 HTTP/1.1\r\nHost: api.invalid:80\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n\r\n"
    )
    assert seen[1].startswith(b"GET /x HTTP/1.1\r\nHost: api.invalid\r\n")


@on_both_loops
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 407 Auth\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nsurplus",
        b"HTTP/1.1 200 OK\r\n",
        b"",
        b"x" * 20000,
        b"HTTP/1.1 2000 OK\r\n\r\n",
    ],
)
def test_a_proxy_that_refuses(loop: str, answer: bytes) -> None:
    async def proxy(peer: Peer) -> None:
        await peer.reader.readuntil(b"\r\n\r\n")
        await peer.send(answer)

    async def main() -> None:
        async with Hostile(proxy) as hostile:
            error = await refusal(
                HttpClient(Origin.parse("http://a.invalid", proxy=f"http://127.0.0.1:{hostile.port}"))
            )
            assert (type(error), error.code) == (BadUpstream, "proxy")

    run(loop, main())
