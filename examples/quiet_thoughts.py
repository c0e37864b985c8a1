"""A transformer that changes answers, whole and streamed: what the model thought stays in the house."""

from __future__ import annotations

from typing import Any

from moongate import BaseExchange, BaseTransformer


class Quiet(BaseExchange):
    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        return self._without(body, "message")

    def chunk(self, payload: dict[str, Any]) -> dict[str, Any]:
        return self._without(payload, "delta")

    def _without(self, body: dict[str, Any], part: str) -> dict[str, Any]:
        choices = body.get("choices", [])
        if not any("reasoning_content" in choice.get(part, {}) for choice in choices):
            return body  # unchanged: the provider's own bytes go on
        self.note("quiet_thoughts", part)
        kept = [{key: value for key, value in choice[part].items() if key != "reasoning_content"} for choice in choices]
        return {**body, "choices": [{**choice, part: left} for choice, left in zip(choices, kept, strict=True)]}


class QuietThoughts(BaseTransformer):
    def begin(self, request: dict[str, Any]) -> Quiet:
        return Quiet(request)
