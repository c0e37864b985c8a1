"""The table of providers in docs/providers.md: what `moongate init` writes, and what is known of each."""

from __future__ import annotations

from moongate.cli.providers import PROVIDERS, KnownProvider

# Of K2-0905 in November 2025, and what else is known. The evidence is in docs/wire-facts.md (sections 2, 3, 6 and 9).
KNOWN = {
    "moonshot": (
        "100 %",
        "refuses sampling parameters, tool schemas, forced tools and histories without reasoning that agents send: "
        "[what it takes](models.md#moonshots-api-by-generation). `api.moonshot.cn` has keys of its own; the coding "
        "plan is at `https://api.kimi.com/coding/v1`",
    ),
    "openrouter": ("–", "other hosts answer behind it; they change within a session, and so do the faults"),
    "siliconflow": ("99.8 %", ""),
    "together": ("72.0 %", "markers in the text were seen with K2.7"),
    "fireworks": ("100 %", "K3: ids begin at 0 again in each turn; moongate makes them unique"),
    "vllm": ("76.0 %", "[the flags that matter](serving.md#vllm)"),
    "sglang": ("73.1 %", "[the flags that matter](serving.md#sglang)"),
}


def providers_table() -> str:
    rows = [
        "| provider | set up by | address | key | calls that fit | what else is known |",
        "|---|---|---|---|---|---|",
    ]
    rows += [_row(name, each) for name, each in PROVIDERS.items() if each.url]
    return "\n".join(rows) + "\n"


def _row(name: str, provider: KnownProvider) -> str:
    key = f"`${provider.variable}`" if provider.variable else "none"
    share, known = KNOWN.get(name, ("–", ""))
    return f"| {provider.title} | `moongate init {name}` | `{provider.url}` | {key} | {share} | {known} |"
