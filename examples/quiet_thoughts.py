"""A transformer that changes answers, streamed or not: it removes the model's reasoning."""

from __future__ import annotations

from typing import Any

from moongate import BaseExchange, BaseTransformer


class Quiet(BaseExchange):
    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        return self._without_reasoning(body, "message")

    def chunk(self, payload: dict[str, Any]) -> dict[str, Any]:
        return self._without_reasoning(payload, "delta")

    def _without_reasoning(self, body: dict[str, Any], part: str) -> dict[str, Any]:
        choices = body.get("choices", [])
        if not any("reasoning_content" in choice.get(part, {}) for choice in choices):
            return body  # the same object: the provider's bytes are passed on unchanged
        self.note("quiet_thoughts", part)
        kept = [{key: value for key, value in choice[part].items() if key != "reasoning_content"} for choice in choices]
        return {**body, "choices": [{**choice, part: fields} for choice, fields in zip(choices, kept, strict=True)]}


class QuietThoughts(BaseTransformer):
    def begin(self, request: dict[str, Any]) -> Quiet:
        return Quiet(request)
