"""Every generic transformer, by the name that configurations use, and what it does to Kimi beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from moongate.chat.contracts import Transformer
from moongate.transformers.cache_control import CleanCacheTransformer
from moongate.transformers.forced_reasoning import ForceReasoningTransformer
from moongate.transformers.parameters import (
    CustomParamsTransformer,
    MaxCompletionTokensTransformer,
    MaxTokenTransformer,
    SamplingTransformer,
    StreamOptionsTransformer,
)
from moongate.transformers.reasoning import ReasoningTransformer
from moongate.transformers.tolerant_arguments import EnhanceToolTransformer
from moongate.transformers.tool_use import ToolUseTransformer


class GenericRow(NamedTuple):
    """`before` and `behind`: how it disturbs Kimi when it stands there in the chain; "" if it does not."""

    build: Callable[[Mapping[str, Any] | None, str], Transformer]  # from options, and where they stand
    does: str
    before: str = ""
    behind: str = ""


GENERIC: Final[Mapping[str, GenericRow]] = {
    "tooluse": GenericRow(
        ToolUseTransformer.from_config,
        "requires a call in every turn, offers `ExitTool` for answers in words, and turns its calls into text again",
        "Kimi calls tools by itself; where its host refuses a required call while it thinks, only the reminder is left",
        "its exit call is read before Kimi's repairs, so one that the model writes as markers reaches the client; "
        "and it requires a call after Kimi has checked whether the host takes that: put it before Kimi",
    ),
    "reasoning": GenericRow(
        ReasoningTransformer.from_config,
        "switches thinking on or off (`thinking`, `enable_thinking`); `reasoning` of answers is `reasoning_content`",
        "it sends `enable_thinking`, which Kimi's hosts need not know",
        "it sets `thinking` again after Kimi has taken it out for hosts that refuse it: put it before Kimi",
    ),
    "forcereasoning": GenericRow(
        ForceReasoningTransformer.from_config,
        "asks by prompt for thinking between tags, and makes it `reasoning_content`",
        "Kimi models that think by themselves then think twice",
        "it divides the text before Kimi looks for calls in it, and Kimi models that think by themselves think twice",
    ),
    "streamoptions": GenericRow(StreamOptionsTransformer.from_config, "asks streams for their token usage"),
    "maxtoken": GenericRow(MaxTokenTransformer.from_config, "lowers a token limit that is above its own"),
    "maxcompletiontokens": GenericRow(
        MaxCompletionTokensTransformer.from_config,
        "sends `max_tokens` as `max_completion_tokens`",
        "",
        "it renames the limit after Kimi has chosen the name that the host takes: put it before Kimi, or leave it out",
    ),
    "sampling": GenericRow(
        SamplingTransformer.from_config,
        "sends its own `temperature`, `top_p`, `top_k`, `repetition_penalty`, and caps `max_tokens`",
        "",
        "it sets parameters again that Kimi has taken out because Moonshot refuses them: put it before Kimi",
    ),
    "customparams": GenericRow(
        CustomParamsTransformer.from_config,
        "adds its options to the request, where the client has not set them itself",
        "",
        "what it adds is not checked by Kimi's rules for hosts: put it before Kimi",
    ),
    "cleancache": GenericRow(CleanCacheTransformer.from_config, "takes `cache_control` out of messages and tools"),
    "enhancetool": GenericRow(
        EnhanceToolTransformer.from_config,
        "mends arguments that are no JSON; calls leave when they are complete",
        "calls no longer stream: Kimi's option `repairArguments` mends them while they do",
        "calls no longer stream, and it puts them together before Kimi has repaired their ids and indexes: "
        "use Kimi's option `repairArguments`",
    ),
}


def generic_name(name: str) -> str | None:
    """The name in the table for one in any case, with or without `Transformer`; None if it is not there.

    >>> generic_name("StreamOptionsTransformer"), generic_name("TOOLUSE"), generic_name("Kimi")
    ('streamoptions', 'tooluse', None)
    """
    folded = name.lower()
    return next((each for each in (folded, folded.removesuffix("transformer")) if each in GENERIC), None)


def cautions(chain: Sequence[str], kimi: int) -> list[tuple[str, str]]:
    """Which transformers of a chain (by name) disturb the Kimi at this place in it, and why."""
    found = []
    for at, name in enumerate(chain):
        row = GENERIC.get(name)
        reason = "" if row is None else row.before if at < kimi else row.behind
        if reason:
            found.append((name, reason))
    return found
