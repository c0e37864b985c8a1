"""Which provider serves the model? What is true of its API for every model, read from the base URL (section 2).

A new host is one row of `HOSTS`; what Moonshot's API takes from each generation is one row of `MOONSHOT_PARAMETERS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from moongate.kimi.request.tool_names import MOONSHOT_NAME

SAMPLING_FIELDS: Final = ("temperature", "top_p", "n", "presence_penalty", "frequency_penalty")

EFFORTS: Final[Mapping[str, str]] = {  # efforts that clients ask for → those that Kimi knows
    "minimal": "low",
    "low": "low",
    "medium": "high",
    "high": "high",
    "xhigh": "max",
    "max": "max",
}
LOWEST_EFFORT: Final = "low"  # for "off", "none", "disabled" and unknown words


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """What a host's API takes from one generation (section 9)."""

    thinking: Literal["as asked", "drop", "drop disabled", "drop unless disabled"] = "as asked"
    fixed_sampling: bool = False  # a set value is refused, even the right one on a bad day
    forced_choice: Literal["as asked", "auto", "required"] = "as asked"  # what a refused `tool_choice` becomes
    token_limit: Literal["as asked", "max_completion_tokens", "max_tokens"] = "as asked"  # the only name it takes
    takes_effort: bool = False  # as `reasoning_effort`, and only the words that `EFFORTS` maps to


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What is known of a host. `why` says how it was recognised."""

    name: str
    domains: tuple[str, ...] = ()
    parameters: Mapping[str, ParameterFacts] = field(default_factory=dict)  # by generation
    max_tools: int | None = None
    tool_name: re.Pattern[str] | None = None  # what it takes as a tool's name, None: any
    validates_schemas: bool = False  # Moonshot's JSON Schema flavour
    schema_level: Literal["strict", "ultra"] = "strict"  # how strictly it does so
    needs_reasoning: bool = False  # a thinking model's calls without `reasoning_content` are refused
    reads_reasoning: bool = False  # takes reasoning only under the name `reasoning`
    checks_message_tools: bool = False  # refuses `messages[].tools` that are not exactly as its API wants them
    validates_message_tools: bool = False  # names and schemas in them are checked like those in `tools`
    streams_usage: bool = False  # a stream ends with its usage, asked for or not
    takes_seed: bool = False  # `seed` makes its sampling repeatable
    takes_template_arguments: bool = False  # `chat_template_kwargs` reach the chat template
    why: str = ""


MOONSHOT_PARAMETERS: Final[Mapping[str, ParameterFacts]] = {
    "moonshot-v1": ParameterFacts(thinking="drop"),
    "k2": ParameterFacts(thinking="drop"),
    "k2-thinking": ParameterFacts(thinking="drop disabled", forced_choice="auto"),
    "k2.5": ParameterFacts(fixed_sampling=True, forced_choice="auto", token_limit="max_completion_tokens"),
    "k2.6": ParameterFacts(fixed_sampling=True, forced_choice="auto", token_limit="max_completion_tokens"),
    "k2.7": ParameterFacts(
        "drop disabled", fixed_sampling=True, forced_choice="auto", token_limit="max_completion_tokens"
    ),
    "k2.8": ParameterFacts(
        "drop", fixed_sampling=True, forced_choice="auto", token_limit="max_completion_tokens", takes_effort=True
    ),
    "k3": ParameterFacts(
        "drop unless disabled",
        fixed_sampling=True,
        forced_choice="required",
        token_limit="max_completion_tokens",
        takes_effort=True,
    ),
    "k3.1": ParameterFacts(
        "drop", fixed_sampling=True, forced_choice="required", token_limit="max_completion_tokens", takes_effort=True
    ),
}

HOSTS: Final = (
    HostFacts(
        "moonshot",
        domains=("api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"),
        parameters=MOONSHOT_PARAMETERS,
        max_tools=128,
        tool_name=MOONSHOT_NAME,
        validates_schemas=True,
        needs_reasoning=True,
        checks_message_tools=True,
        validates_message_tools=True,
        streams_usage=True,
    ),
    HostFacts("vllm", reads_reasoning=True, takes_seed=True, takes_template_arguments=True),
    HostFacts("sglang", takes_seed=True, takes_template_arguments=True),
    HostFacts("openrouter", domains=("openrouter.ai",), takes_seed=True),
    HostFacts("generic"),  # any other address
)

HOST_NAMES: Final = tuple(row.name for row in HOSTS)


def recognise_host(base_url: str, host: str = "auto", rows: Sequence[HostFacts] = HOSTS) -> HostFacts:
    """What is known of the host at `base_url`. A host that is not "auto" (the option `host`) wins over the address."""
    domain = _domain(base_url)
    for row in rows:
        if host == row.name:
            return replace(row, why=f"the option host says {row.name}")
        if host == "auto" and domain in row.domains:
            return replace(row, why=f"the base URL's host is {domain}")
    return replace(rows[-1], why=f"the base URL's host is {domain!r}, which has no rules of its own")


def _domain(base_url: str) -> str:
    """The host name of the URL in lower case, without user and port; "" if there is none."""
    try:
        found = urlsplit(base_url if "//" in base_url else f"//{base_url}").hostname
    except ValueError:  # half of an IPv6 address
        return ""
    return (found or "").rstrip(".")
