"""Clients of all fronts, for tests that hold for each of them."""

from __future__ import annotations

from typing import Final

from tests.support.chat_front import Chat
from tests.support.front import Front
from tests.support.messages_front import Messages
from tests.support.responses_front import Responses

FRONTS: Final[tuple[Front, ...]] = (Chat(), Messages(), Responses())
