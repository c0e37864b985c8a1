"""A transformer that changes requests: it puts a system message in front of every conversation."""

from __future__ import annotations

from moongate import BaseExchange, BaseTransformer


class HouseRules(BaseTransformer):
    def __init__(self, text: str = "Be brief.") -> None:
        self.rules = {"role": "system", "content": text}

    def begin(self, request: dict[str, object]) -> BaseExchange:
        messages = request.get("messages")
        return BaseExchange({**request, "messages": [self.rules, *(messages if isinstance(messages, list) else [])]})
