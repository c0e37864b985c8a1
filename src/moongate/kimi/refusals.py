"""Refusals of a provider from which a rule is learned (section 9).

The tables of `generations` and `hosts` lag behind releases, and Moonshot's models run behind relays with other names. A
refusal that is known says which rule of this package answers it. This module only recognises the refusal and says what
the rule changes; the caller sends the request again, and remembers the rule if that helped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from moongate.kimi.generations import ModelFacts
from moongate.kimi.hosts import HostFacts, ParameterFacts
from moongate.kimi.options import KimiOptions
from moongate.kimi.request.tool_names import MOONSHOT_NAME

MAX_READ: Final = 400  # characters of a message: a refusal stands at its beginning

Facts = tuple[ModelFacts, HostFacts]

_PARAMETER: Final = "(?:request )?(?:parameter|field|argument|value|property)"
_EFFORT: Final = r"(?:thinking\.effort|reasoning_effort|reasoning effort|effort)"


@dataclass(frozen=True, slots=True)
class RefusalRule:
    """One known refusal and the rule that answers it."""

    name: str
    option: str  # the field of `KimiOptions` that switches the rule off
    pattern: str  # matched at the beginning of the message
    change: Callable[[ModelFacts, HostFacts], Facts]
    meaning: str  # for the docs


def recognise_refusal(message: str, options: KimiOptions) -> str | None:
    """The name of the rule that answers a refusal with this message; None if there is none, or if it is off.

    Only the beginning of the message counts: a refusal that quotes a request may contain anything further behind.
    """
    if not options.learn_from_refusals:
        return None
    text = message[:MAX_READ].lstrip()
    for rule in REFUSALS:
        if _compiled(rule.pattern).match(text):
            return rule.name if getattr(options, rule.option) != "off" else None
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled for the first refusal, because that takes longer than the import of everything else here.

    Moonshot writes "Invalid request: " before some of its refusals.
    """
    return re.compile(rf"(?:invalid request: ?)?(?:{pattern})", re.IGNORECASE)


def with_learned(model: ModelFacts, host: HostFacts, names: Iterable[str], options: KimiOptions) -> Facts:
    """What is known of model and host, with the learned rules of these names. An option that is off stays off."""
    for rule in REFUSALS:
        if rule.name in names and getattr(options, rule.option) != "off":
            model, host = rule.change(model, host)
    return model, host


def _with_parameters(model: ModelFacts, host: HostFacts, **changes: Any) -> Facts:
    facts = host.parameters.get(model.generation, ParameterFacts())
    return model, replace(host, parameters={**host.parameters, model.generation: replace(facts, **changes)})


def _needs_reasoning(model: ModelFacts, host: HostFacts) -> Facts:
    return replace(model, thinking="always"), replace(host, needs_reasoning=True)


def _fixed_sampling(model: ModelFacts, host: HostFacts) -> Facts:
    return _with_parameters(model, host, fixed_sampling=True)


def _no_forced_choice(model: ModelFacts, host: HostFacts) -> Facts:
    return _with_parameters(replace(model, thinking="always"), host, forced_choice="auto")


def _no_thinking(model: ModelFacts, host: HostFacts) -> Facts:
    return _with_parameters(model, host, thinking="drop")


def _efforts(model: ModelFacts, host: HostFacts) -> Facts:
    facts = host.parameters.get(model.generation, ParameterFacts())
    dropped = "drop" if facts.thinking == "drop" else "drop unless disabled"
    return _with_parameters(model, host, takes_effort=True, thinking=dropped)


def _strictest_schemas(model: ModelFacts, host: HostFacts) -> Facts:
    return model, replace(host, validates_schemas=True, schema_level="ultra", validates_message_tools=True)


def _reversible_names(model: ModelFacts, host: HostFacts) -> Facts:
    return model, replace(host, tool_name=MOONSHOT_NAME, validates_message_tools=True)


def _completion_limit(model: ModelFacts, host: HostFacts) -> Facts:
    return _with_parameters(model, host, token_limit="max_completion_tokens")


def _old_limit(model: ModelFacts, host: HostFacts) -> Facts:
    return _with_parameters(model, host, token_limit="max_tokens")


def _unasked_usage(model: ModelFacts, host: HostFacts) -> Facts:
    return model, replace(host, streams_usage=True)


def _no_message_tools(model: ModelFacts, host: HostFacts) -> Facts:
    return replace(model, tools_in_messages=False), replace(host, checks_message_tools=True)


def _unsupported(field: str) -> str:
    """The ways in which OpenAI-compatible servers say that they do not take a field."""
    named = "(?:" + "|".join((field, f"'{field}'", f'"{field}"', f"`{field}`")) + ")"
    value = r"(?:(?: of|:)? [`'\"]?[\w.-]{0,40}[`'\"]?)?"
    return (
        rf"(?:unsupported|unknown|unrecogni[sz]ed|unexpected) {_PARAMETER}(?: supplied)?:? {named}(?!\.?\w)|"
        rf"(?:the )?(?:{_PARAMETER} )?{named}{value} (?:is (?:not supported|unsupported|not allowed|not permitted)|"
        rf"(?:does )?not support)|"
        rf"this model does not support (?:the )?(?:{_PARAMETER} )?{named}(?!\.?\w)|"
        rf"{named} ?: (?:(?:{_PARAMETER} )?{named} is unsupported|extra (?:inputs|fields) (?:are )?not permitted)"
    )


REFUSALS: Final[tuple[RefusalRule, ...]] = (
    RefusalRule(
        "reasoning",
        "reasoning_history",
        "(?:thinking is enabled but )?reasoning_content is missing",
        _needs_reasoning,
        "a blank `reasoning_content` on calls without reasoning",
    ),
    RefusalRule(
        "sampling",
        "parameter_rules",
        "invalid (?:temperature|top_p|n|presence_penalty|frequency_penalty): only .{1,80}? (?:is|are) allowed",
        _fixed_sampling,
        "sampling fields are dropped",
    ),
    RefusalRule(
        "tool_choice",
        "parameter_rules",
        r"tool_choice [`'\"][^`'\"]{1,64}[`'\"] is incompatible with thinking",
        _no_forced_choice,
        "a forced `tool_choice` becomes `auto`",
    ),
    RefusalRule(
        "effort",
        "parameter_rules",
        rf"(?:invalid|unsupported|unknown) (?:value (?:for|of) )?(?:{_PARAMETER} )?[`'\"]?{_EFFORT}\b|"
        rf"{_EFFORT} must be one of\b|{_unsupported(_EFFORT)}",
        _efforts,
        "efforts become those that Kimi knows",
    ),
    RefusalRule("thinking", "parameter_rules", r"invalid thinking\b(?!\.)", _no_thinking, "`thinking` is dropped"),
    RefusalRule(
        "schema",
        "schema_rules",
        r"(?:(?:tools|messages|response_format)[\w.\[\]]{0,100} is )?not a valid moonshot flavored json schema",
        _strictest_schemas,
        "schemas pass the validator's strictest level",
    ),
    RefusalRule(
        "tool_name",
        "schema_rules",
        "function name is invalid",
        _reversible_names,
        "tool names that Moonshot refuses get reversible names",
    ),
    RefusalRule(
        "max_tokens",
        "parameter_rules",
        _unsupported("max_tokens"),
        _completion_limit,
        "`max_tokens` is sent as `max_completion_tokens`",
    ),
    RefusalRule(
        "max_completion_tokens",
        "parameter_rules",
        _unsupported("max_completion_tokens"),
        _old_limit,
        "`max_completion_tokens` is sent as `max_tokens`",
    ),
    RefusalRule(
        "stream_options",
        "parameter_rules",
        _unsupported("stream_options"),
        _unasked_usage,
        "the gateway no longer asks for the usage of streams",
    ),
    RefusalRule(
        "message_tools",
        "parameter_rules",
        # Not where only the role, the content beside them or a repeated name is refused: moving would hide that.
        r"tokenization failed|"
        r"(?:dynamic tools|tools (?:in|inside) messages|messages?(?:\[\d{1,6}\])?\.tools) (?:is|are) "
        r"(?:not (?:supported|allowed|permitted)|unsupported)(?!.{0,100}\b(?:roles?|user|assistant|content|twice)\b)",
        _no_message_tools,
        "tools inside messages move to `tools`",
    ),
)
