"""Bytes of a fuzzer → choices: the same bytes always make the same thing, and a small change makes a similar one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

T = TypeVar("T")
SCALARS: Sequence[Any] = (
    *(None, "", "a", 0, True, False, 1, -1, 3.5, 1e308, 10**20, "x" * 70, "functions.bash:0", "<|tool_call_begin|>"),
    *("\ud83d", "é😀", "\0", "{}", '{"a": 1}', "[", "user", "assistant", "tool", "text", "function", "bash", "object"),
)
MAX_DEPTH = 6


def table_of(*tokens: str) -> Sequence[str]:
    """For each byte a scrap or a character."""
    return [tokens[byte % len(tokens)] if byte < 200 else chr(byte - 136) for byte in range(256)]


class Draw:
    """Choices made from bytes; when the bytes are used up, every choice is the first one."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_over(self) -> bool:
        return self._at >= len(self._data)

    def byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1] if self._at <= len(self._data) else 0

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.byte() % len(choices)]

    def rest(self) -> bytes:
        found, self._at = self._data[self._at :], len(self._data)
        return found

    def text(self, table: Sequence[str]) -> str:
        """The remaining bytes as text, each translated by the table."""
        return "".join([table[byte] for byte in self.rest()])

    def value(self, words: Sequence[str], depth: int = 0) -> Any:
        """Any JSON value, with keys and texts from `words`."""
        kind = self.byte() % 8
        if kind == 1 and depth < MAX_DEPTH:
            return [self.value(words, depth + 1) for _ in range(self.byte() % 4)]
        if kind == 2 and depth < MAX_DEPTH:
            return {self.pick(words): self.value(words, depth + 1) for _ in range(self.byte() % 4)}
        return self.pick(words) if kind == 3 else self.pick(SCALARS)

    def changed(self, value: Any, words: Sequence[str]) -> Any:
        """The value with a few members replaced, removed, duplicated or added."""
        for _ in range(self.byte() % 6):
            value = self._change(value, words)
        return value

    def _change(self, value: Any, words: Sequence[str], depth: int = 0) -> Any:
        stop = self.byte() % 4 == 3 and depth > 0
        if not stop and isinstance(value, dict) and value:
            key = self.pick(list(value))
            match self.byte() % 8:
                case 0:
                    return {name: each for name, each in value.items() if name != key}
                case 1:
                    return {**value, self.pick(words): self.value(words)}
                case _:
                    return {**value, key: self._change(value[key], words, depth + 1)}
        if not stop and isinstance(value, list) and value:
            at = self.byte() % len(value)
            match self.byte() % 8:
                case 0:
                    return value[:at] + value[at + 1 :]
                case 1:
                    return [*value, value[at]]
                case 2:
                    return [*value, self.value(words)]
                case _:
                    return [*value[:at], self._change(value[at], words, depth + 1), *value[at + 1 :]]
        return self.value(words)
