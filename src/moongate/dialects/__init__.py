"""The fronts: OpenAI chat, Anthropic messages, OpenAI responses. Pure."""

from __future__ import annotations

from moongate.dialects.anthropic_messages import MESSAGES
from moongate.dialects.fronts import DIALECTS, FRONTS, Front
from moongate.dialects.openai_chat import CHAT
from moongate.dialects.openai_responses import RESPONSES

__all__ = ["CHAT", "DIALECTS", "FRONTS", "MESSAGES", "RESPONSES", "Front"]
