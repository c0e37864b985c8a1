from __future__ import annotations

import asyncio
import socket

from moongate.gateway.server.read_progress import ReadProgress, unread_bytes


def test_only_reading_is_progress() -> None:
    progress = ReadProgress(1000, 0.0)
    assert progress.look(1000, 5.0) == 5.0
    assert progress.look(2000, 6.0) == 6.0  # more was written
    assert progress.look(1500, 7.0) == 0.0
    assert progress.look(1500, 9.0) == 2.0
    assert progress.look(0, 10.0) == 0.0


def test_bytes_in_the_kernel_count() -> None:
    async def main() -> None:
        ours, theirs = socket.socketpair()
        with socket.create_server(("127.0.0.1", 0)) as server:
            theirs.close()
            ours.close()
            theirs = socket.socket()
            theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            theirs.connect(server.getsockname())
            ours, _ = server.accept()
        transport, _ = await asyncio.get_running_loop().connect_accepted_socket(asyncio.Protocol, ours)
        transport.write(b"x" * 1_000_000)
        await asyncio.sleep(0.1)
        before = unread_bytes(transport)
        assert transport.get_write_buffer_size() < before <= 1_000_000
        await asyncio.get_running_loop().run_in_executor(None, theirs.recv, 500_000)
        await asyncio.sleep(0.1)
        assert unread_bytes(transport) < before
        transport.abort()
        await asyncio.sleep(0)
        assert unread_bytes(transport) == 0
        theirs.close()

    asyncio.run(main())
