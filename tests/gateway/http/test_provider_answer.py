"""What a provider's answer other than 200 becomes."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import cast

import pytest

from moongate.gateway.http.provider_answer import OFFLOAD_ERROR, error_of
from moongate.net.contract import Response


@pytest.mark.parametrize(("size", "in_thread"), [(OFFLOAD_ERROR, False), (OFFLOAD_ERROR + 1, True)])
def test_secrets_in_a_long_error_are_looked_for_in_a_thread(size: int, in_thread: bool) -> None:
    threads = []

    async def read(limit: int) -> bytes:
        return (b"secret" + b"\\" * limit)[:size]

    def redact(text: str) -> str:
        threads.append(threading.current_thread())
        return text.replace("secret", "[secret]")

    response = cast(Response, SimpleNamespace(status=500, headers={}, read=read))
    error = asyncio.run(error_of(response, redact))
    assert error.message.startswith("[secret]\\")
    assert [thread is not threading.main_thread() for thread in threads] == [in_thread]
