"""The front doors: OpenAI chat, Anthropic messages, OpenAI responses. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moongate.chat.contracts import Dialect
from moongate.dialects.messages import MESSAGES
from moongate.dialects.openai_chat import CHAT
from moongate.dialects.responses import RESPONSES

DIALECTS: Final[Mapping[str, Dialect]] = {
    "/v1/chat/completions": CHAT,
    "/v1/messages": MESSAGES,
    "/v1/responses": RESPONSES,
}

__all__ = ["CHAT", "DIALECTS", "MESSAGES", "RESPONSES"]
