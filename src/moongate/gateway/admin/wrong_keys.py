"""Slows down those who try keys: a wrong key is answered late, and few wait at the same time."""

from __future__ import annotations

import asyncio
from typing import Final

from moongate.errors import TooManyRequests

DELAY_SECONDS: Final = 1.0  # until a wrong key is answered
MAX_WAITING: Final = 4  # wrong keys of one address that wait for their answer
MAX_WAITING_IN_ALL: Final = 256


class WrongKeys:
    """Before a key is compared: `require_turn`. If it was wrong: `await delay`."""

    def __init__(self, seconds: float = DELAY_SECONDS) -> None:
        self._seconds = seconds
        self._waiting: dict[str, int] = {}  # by address

    def require_turn(self, address: str) -> None:
        """Raises TooManyRequests, without any look at the key: else the refusal itself would tell a right one apart."""
        if self._waiting.get(address, 0) >= MAX_WAITING or sum(self._waiting.values()) >= MAX_WAITING_IN_ALL:
            raise TooManyRequests(
                "Too many wrong keys: wait a moment and try again", code="too_many_wrong_keys", retry_after=1
            )

    async def delay(self, address: str) -> None:
        self._waiting[address] = self._waiting.get(address, 0) + 1
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]
