"""Providers that `moongate init` knows: their URL, the usual variable for their key, and their Kimi models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class KnownProvider:
    """One provider. `host` is set where the URL does not reveal the serving engine."""

    title: str
    url: str
    variable: str  # "" if it usually needs no key
    models: tuple[str, ...]
    host: str = ""


AGENT_NAMES: Final = ("claude-*", "gpt-*")  # models that agents ask for when they are not told another


PROVIDERS: Final[dict[str, KnownProvider]] = {
    "moonshot": KnownProvider(
        "Moonshot AI",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        ("kimi-k3.1-pro", "kimi-k3", "kimi-k2.7-code", "kimi-k2.6"),
    ),
    "openrouter": KnownProvider(
        "OpenRouter",
        "https://openrouter.ai/api",
        "OPENROUTER_API_KEY",
        ("moonshotai/kimi-k3", "moonshotai/kimi-k2.7-code", "moonshotai/kimi-k2.6"),
    ),
    "siliconflow": KnownProvider(
        "SiliconFlow",
        "https://api.siliconflow.cn/v1",
        "SILICONFLOW_API_KEY",
        ("Pro/moonshotai/Kimi-K2.6", "moonshotai/Kimi-K2-Instruct-0905"),
    ),
    "together": KnownProvider(
        "Together AI",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        ("moonshotai/Kimi-K3", "moonshotai/Kimi-K2.7-Code", "moonshotai/Kimi-K2.5"),
    ),
    "fireworks": KnownProvider(
        "Fireworks AI",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        ("accounts/fireworks/models/kimi-k3", "accounts/fireworks/models/kimi-k2p7-code"),
    ),
    "vllm": KnownProvider("vLLM", "http://127.0.0.1:8000/v1", "", ("moonshotai/Kimi-K2-Instruct-0905",), host="vllm"),
    "sglang": KnownProvider(
        "SGLang", "http://127.0.0.1:30000/v1", "", ("moonshotai/Kimi-K2-Instruct-0905",), host="sglang"
    ),
    "other": KnownProvider("another provider", "", "", ()),
}
