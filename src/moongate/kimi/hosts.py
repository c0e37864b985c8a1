"""Who serves it? What is true of a provider's API whatever model it runs, read from the base URL (section 2).

A new host is one row of `HOSTS`; what Moonshot's API takes from each generation is one row of `MOONSHOT_PARAMETERS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal
from urllib.parse import urlsplit

from moongate.kimi.names import MOONSHOT_NAME
from moongate.kimi.options import KimiOptions

SAMPLING_FIELDS: Final = ("temperature", "top_p", "n", "presence_penalty", "frequency_penalty")


@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """What a host's API takes from one generation (section 9)."""

    thinking: Literal["as asked", "drop", "drop disabled"] = "as asked"
    fixed_sampling: bool = False  # a set value is refused, even the right one on a bad day
    forced_choice: Literal["as asked", "auto", "required"] = "as asked"  # what a refused `tool_choice` becomes
    renames_max_tokens: bool = False  # `max_tokens` is an old name for `max_completion_tokens`
    efforts: Mapping[str, str] = field(default_factory=dict)  # `reasoning_effort` that is refused → the nearest


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What is known of a host. `why` says how it was recognised."""

    name: str
    domains: tuple[str, ...] = ()
    parameters: Mapping[str, ParameterFacts] = field(default_factory=dict)  # by generation
    max_tools: int | None = None
    tool_name: re.Pattern[str] | None = None  # what it takes as a tool's name, None: any
    validates_schemas: bool = False  # Moonshot's JSON Schema flavour
    needs_reasoning: bool = False  # a thinking model's calls without `reasoning_content` are refused
    reads_reasoning: bool = False  # takes reasoning only under the name `reasoning`
    why: str = ""


MOONSHOT_PARAMETERS: Final[Mapping[str, ParameterFacts]] = {
    "moonshot-v1": ParameterFacts(thinking="drop"),
    "k2": ParameterFacts(thinking="drop"),
    "k2-thinking": ParameterFacts(thinking="drop disabled", forced_choice="auto"),
    "k2.5": ParameterFacts(fixed_sampling=True, forced_choice="auto", renames_max_tokens=True),
    "k2.6": ParameterFacts(fixed_sampling=True, forced_choice="auto", renames_max_tokens=True),
    "k2.7": ParameterFacts("drop disabled", fixed_sampling=True, forced_choice="auto", renames_max_tokens=True),
    "k3": ParameterFacts(
        thinking="drop",
        fixed_sampling=True,
        forced_choice="required",
        renames_max_tokens=True,
        efforts={"none": "low", "minimal": "low", "medium": "high", "xhigh": "max"},
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
    ),
    HostFacts("openrouter", domains=("openrouter.ai",)),
    HostFacts("vllm", reads_reasoning=True),
    HostFacts("sglang"),
    HostFacts("generic"),
)


def host_of(base_url: str, options: KimiOptions) -> HostFacts:
    """What is known of the host at `base_url`; the option `host` wins over the address."""
    domain = _domain(base_url)
    for row in HOSTS:
        if options.host == row.name:
            return replace(row, why=f"the option host says {row.name}")
        if options.host == "auto" and domain in row.domains:
            return replace(row, why=f"the base URL's host is {domain}")
    return replace(HOSTS[-1], why=f"the base URL's host is {domain!r}, which has no rules of its own")


def _domain(base_url: str) -> str:
    """The host name in lower case, without port and user; "" if there is none."""
    try:
        found = urlsplit(base_url if "//" in base_url else f"//{base_url}").hostname
    except ValueError:  # half of an IPv6 address
        return ""
    return (found or "").rstrip(".")
