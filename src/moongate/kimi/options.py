"""The options of the Kimi transformer: names, defaults, allowed values and meaning, each said once (section 1).

In configuration an option is written in camelCase, here it is a snake_case field. The table in `docs/kimi.md` is
made from the fields below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from typing import Any, Final, Literal, Self, TypeVar

from moongate.errors import ConfigError

MAX_TOKEN_CHARS: Final = 256  # a marker is held back while it may still come: what waits must stay small

PRESETS: Final[Mapping[str, Mapping[str, bool]]] = {
    "default": {},
    "agent": {"manual_tool_parsing": True, "repair_arguments": True},
}

_ID_PREFIX: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")

T = TypeVar("T")


def _option(default: T, meaning: str, *, words: tuple[str, ...] = ()) -> T:
    """A field with its meaning and, if only some words are allowed, these words."""
    option: T = field(default=default, metadata={"meaning": meaning, "words": words})
    return option


@dataclass(frozen=True, slots=True)
class ToolTokens:
    """The five texts that mark K2's calls."""

    section_begin: str = "<|tool_calls_section_begin|>"
    section_end: str = "<|tool_calls_section_end|>"
    call_begin: str = "<|tool_call_begin|>"
    call_end: str = "<|tool_call_end|>"
    arg_begin: str = "<|tool_call_argument_begin|>"

    @classmethod
    def from_config(cls, given: Mapping[str, Any], path: str) -> ToolTokens:
        """Any subset of the five, in camelCase; the others keep their texts."""
        known = _known(cls, given, path)
        for key, text in known.items():
            if not isinstance(text, str) or not 0 < len(text) <= MAX_TOKEN_CHARS:
                raise ConfigError(f"must be a text of 1 to {MAX_TOKEN_CHARS} characters", path=_at(path, key))
        tokens = cls(**known)
        texts = [getattr(tokens, each.name) for each in fields(cls)]
        if len(set(texts)) < len(texts):
            raise ConfigError("two markers have the same text", path=path)
        return tokens


K2_TOKENS: Final = ToolTokens()


@dataclass(frozen=True, slots=True)
class KimiOptions:
    """Everything that can be set. Frozen, so that one object can serve all requests.

    `preset` is a word of configuration: `from_config` applies it. In Python, set the fields.
    """

    tool_choice_default: Literal["auto", "none", "required"] = _option(
        "auto",
        "used when `tools` is a non-empty list and `tool_choice` is absent or null",
        words=("auto", "none", "required"),
    )
    accept_role_tool: bool = _option(
        True,
        'a `role: "tool"` message without a non-empty `tool_call_id`, or without `content` (absent or null), '
        "is a 400 that names `messages[i]`",
    )
    enforce_finish_reason_loop: bool = _option(
        True, "`finish_reason` says `tool_calls` exactly when there are calls (`length`, `content_filter` stay)"
    )
    manual_tool_parsing: bool = _option(
        False, "calls that the model wrote as markers become `tool_calls`; off: they pass, and a note says so"
    )
    emit_tool_calls_in_json: bool = _option(False, "reserved: accepted, no effect")
    assemble_tool_deltas: bool = _option(
        False, "the last chunk of a choice also carries the consolidated calls under `message`"
    )
    id_normalization: bool = _option(False, "renumber every id, good ones too")
    repair_on_mismatch: bool = _option(True, "repair only ids that are wrong")
    id_prefix: str = _option("functions", "prefix of made ids; 1 to 32 of `[A-Za-z0-9_-]`")
    counter_scope: Literal["conversation", "request"] = _option(
        "conversation",
        "the index of an id runs over the whole message history, or over one assistant message",
        words=("conversation", "request"),
    )
    tool_tokens: ToolTokens = _option(  # noqa: RUF009 (a field like the others)
        K2_TOKENS,
        "other marker texts: `sectionBegin`, `sectionEnd`, `callBegin`, `callEnd`, `argBegin`; any subset",
    )
    preset: Literal["default", "agent"] = _option(
        "default",
        "`agent` turns on `manualToolParsing` and `repairArguments`; an option set by name wins over it",
        words=("default", "agent"),
    )
    family: Literal["auto", "k2", "k3"] = _option(
        "auto", "auto reads it from the model's name", words=("auto", "k2", "k3")
    )
    host: Literal["auto", "moonshot", "vllm", "sglang", "openrouter", "generic"] = _option(
        "auto",
        "auto reads it from the provider's base URL",
        words=("auto", "moonshot", "vllm", "sglang", "openrouter", "generic"),
    )
    reasoning_history: Literal["auto", "off"] = _option(
        "auto", "assistant messages with calls keep their reasoning", words=("auto", "off")
    )
    parameter_rules: Literal["auto", "off"] = _option(
        "auto", "parameters that the host refuses are dropped or mapped", words=("auto", "off")
    )
    schema_rules: Literal["auto", "always", "off"] = _option(
        "auto",
        "tool schemas are brought into Moonshot's JSON Schema flavour; auto: for hosts that validate it",
        words=("auto", "always", "off"),
    )
    history_rules: Literal["auto", "off"] = _option(
        "auto", "what makes a Kimi host refuse the history, or lose the turn, is mended", words=("auto", "off")
    )
    repair_arguments: bool = _option(
        False, "raw control characters, a JSON object inside a JSON string and trailing markers are mended"
    )

    def __post_init__(self) -> None:
        for each in fields(self):
            _check(each, getattr(self, each.name), f"KimiOptions.{each.name}")

    @classmethod
    def from_config(cls, given: Mapping[str, Any] | None, path: str = "options") -> Self:
        """The options written in a configuration. Raises ConfigError with the path and the nearest known name."""
        if given is None:
            return cls()
        known = _known(cls, given, path)
        if "tool_tokens" in known:
            known["tool_tokens"] = ToolTokens.from_config(known["tool_tokens"], _at(path, "tool_tokens"))
        for each in fields(cls):
            if each.name in known:
                _check(each, known[each.name], _at(path, each.name))
        return cls(**{**PRESETS[known.get("preset", "default")], **known})


def option_name(field_name: str) -> str:
    """repair_on_mismatch → repairOnMismatch"""
    head, *rest = field_name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _at(path: str, field_name: str) -> str:
    return f"{path}.{option_name(field_name)}" if path else option_name(field_name)


def _known(owner: type[KimiOptions | ToolTokens], given: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The given entries under their field names. An entry that `owner` does not have is refused."""
    if not isinstance(given, Mapping):
        raise ConfigError("must be an object", path=path)
    names = {option_name(each.name): each.name for each in fields(owner)}
    for key in given:
        if key not in names:
            near = get_close_matches(str(key), names, n=1, cutoff=0.0)[0]
            raise ConfigError(
                f"unknown option {key!r}, did you mean {near!r}?", path=f"{path}.{key}" if path else f"{key}"
            )
    return {names[key]: value for key, value in given.items()}


def _check(option: Field[Any], value: Any, path: str) -> None:
    """Refuse a value of the wrong type, a word that is not allowed, a prefix that is no prefix."""
    words = option.metadata["words"]
    if words:
        if not isinstance(value, str) or value not in words:
            raise ConfigError(f"must be one of {', '.join(map(repr, words))}, not {value!r}", path=path)
    elif type(value) is not type(option.default):
        raise ConfigError(f"must be a {type(option.default).__name__}, not {value!r}", path=path)
    if option.name == "id_prefix" and not _ID_PREFIX.fullmatch(value):
        raise ConfigError(f"must be 1 to 32 of [A-Za-z0-9_-], not {value!r}", path=path)
