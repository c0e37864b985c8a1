"""The options of the Kimi transformer: names, defaults, allowed values and meaning, each declared once (section 1).

In configuration an option is written in camelCase, here it is a snake_case field. The table in `docs/kimi.md` is
generated from the fields below.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Final, Literal, Self, TypeVar

from moongate.errors import ConfigError
from moongate.kimi.config_fields import option_path, read_fields
from moongate.kimi.generations import FAMILY_NAMES
from moongate.kimi.hosts import HOST_NAMES
from moongate.kimi.tool_tokens import K2_TOKENS, ToolTokens

PRESETS: Final[Mapping[str, Mapping[str, bool | str]]] = {
    "default": {},
    "agent": {"manual_tool_parsing": True, "repair_arguments": True},
    "strict": {"manual_tool_parsing": True, "repair_arguments": True, "guard": "retry"},
}

_ID_PREFIX: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")

T = TypeVar("T")


def _option(default: T, meaning: str, *, words: tuple[str, ...] = ()) -> T:
    """A field with its meaning and, if only some words are allowed, these words."""
    option: T = field(default=default, metadata={"meaning": meaning, "words": words})
    return option


@dataclass(frozen=True, slots=True)
class KimiOptions:
    """Everything that can be set. Frozen, so that one object can serve all requests.

    `preset` belongs to the configuration: `from_config` applies it. In Python, set the fields.
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
        False, "calls that the model wrote as markers become `tool_calls`; off: they pass, and a note reports them"
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
    preset: Literal["default", "agent", "strict"] = _option(
        "default",
        "`agent` turns on `manualToolParsing` and `repairArguments`, `strict` also sets `guard` to `retry`; "
        "an option set by name wins over it",
        words=("default", "agent", "strict"),
    )
    family: str = _option("auto", "auto reads it from the model's name", words=("auto", *FAMILY_NAMES))
    host: str = _option("auto", "auto reads it from the provider's base URL", words=("auto", *HOST_NAMES))
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
        "auto", "what makes a Kimi host refuse the history, or lose the turn, is repaired", words=("auto", "off")
    )
    repair_arguments: bool = _option(
        False, "raw control characters, a JSON object inside a JSON string and trailing markers are repaired"
    )
    guard: Literal["off", "repair", "retry"] = _option(
        "off",
        "a call that leaves is valid JSON, names an offered tool and fits that tool's schema: `repair` mends it where "
        "there is one obvious way, `retry` also asks the provider again; what still does not fit is judged damaged",
        words=("off", "repair", "retry"),
    )
    learn_from_refusals: bool = _option(
        True, "a refusal that is known turns on the rule that answers it; never one whose option is off"
    )

    def __post_init__(self) -> None:
        for each in fields(self):
            _check(each, getattr(self, each.name), f"KimiOptions.{each.name}")

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | None, path: str = "options") -> Self:
        """The options written in a configuration. Raises ConfigError with the path and the nearest known name."""
        if config is None:
            return cls()
        known: dict[str, Any] = read_fields(cls, config, path)
        if "tool_tokens" in known:
            known["tool_tokens"] = ToolTokens.from_config(known["tool_tokens"], option_path(path, "tool_tokens"))
        for each in fields(cls):
            if each.name in known:
                _check(each, known[each.name], option_path(path, each.name))
        return cls(**{**PRESETS[known.get("preset", "default")], **known})


def _check(option: Field[object], value: object, path: str) -> None:
    """Refuse a value of the wrong type, a word that is not allowed, or a malformed prefix."""
    words = option.metadata["words"]
    if words:
        if not isinstance(value, str) or value not in words:
            raise ConfigError(f"must be one of {', '.join(map(repr, words))}, not {value!r}", path=path)
    elif type(value) is not type(option.default):
        raise ConfigError(f"must be a {type(option.default).__name__}, not {value!r}", path=path)
    if option.name == "id_prefix" and not _ID_PREFIX.fullmatch(str(value)):
        raise ConfigError(f"must be 1 to 32 of [A-Za-z0-9_-], not {value!r}", path=path)
