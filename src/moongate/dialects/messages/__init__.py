"""The Anthropic messages front: `/v1/messages`."""

from __future__ import annotations

from moongate.dialects.messages.dialect import MESSAGES

__all__ = ["MESSAGES"]
