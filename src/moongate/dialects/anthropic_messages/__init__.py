"""The Anthropic messages front: `/v1/messages`."""

from __future__ import annotations

from moongate.dialects.anthropic_messages.dialect import MESSAGES

__all__ = ["MESSAGES"]
