"""The texts that mark K2's tool calls (option `toolTokens`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from moongate.errors import ConfigError
from moongate.kimi.config_fields import option_path, read_fields

MAX_TOKEN_CHARS: Final = 256  # text that may become a marker is held back, so markers must be short


@dataclass(frozen=True, slots=True)
class ToolTokens:
    """The five marker texts."""

    section_begin: str = "<|tool_calls_section_begin|>"
    section_end: str = "<|tool_calls_section_end|>"
    call_begin: str = "<|tool_call_begin|>"
    call_end: str = "<|tool_call_end|>"
    arg_begin: str = "<|tool_call_argument_begin|>"

    @classmethod
    def from_config(cls, config: Mapping[str, object], path: str) -> ToolTokens:
        """Any subset of the five, in camelCase; the others keep their defaults. Raises ConfigError with the path."""
        texts: dict[str, str] = {}
        for key, text in read_fields(cls, config, path).items():
            if not isinstance(text, str) or not 0 < len(text) <= MAX_TOKEN_CHARS:
                raise ConfigError(f"must be a text of 1 to {MAX_TOKEN_CHARS} characters", path=option_path(path, key))
            texts[key] = text
        tokens = cls(**texts)
        if len({getattr(tokens, each.name) for each in fields(cls)}) < len(fields(cls)):
            raise ConfigError("two markers have the same text", path=path)
        return tokens


K2_TOKENS: Final = ToolTokens()
