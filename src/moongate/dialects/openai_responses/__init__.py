"""The OpenAI Responses front: `/v1/responses`."""

from __future__ import annotations

from moongate.dialects.openai_responses.dialect import RESPONSES

__all__ = ["RESPONSES"]
