"""Providers that `moongate init` knows: where they are, how their key is usually called, which models they serve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Known:
    """One provider. `host` is set where the URL does not give away whose server it is."""

    title: str
    url: str
    variable: str  # "" if it usually needs no key
    models: tuple[str, ...]
    host: str = ""


PROVIDERS: Final[dict[str, Known]] = {
    "moonshot": Known(
        "Moonshot AI",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        ("kimi-k2.6", "kimi-k2.5", "kimi-k2-thinking", "kimi-k2-0905-preview"),
    ),
    "openrouter": Known(
        "OpenRouter",
        "https://openrouter.ai/api",
        "OPENROUTER_API_KEY",
        ("moonshotai/kimi-k2.6", "moonshotai/kimi-k2.5", "moonshotai/kimi-k2-0905"),
    ),
    "siliconflow": Known(
        "SiliconFlow",
        "https://api.siliconflow.cn/v1",
        "SILICONFLOW_API_KEY",
        ("moonshotai/Kimi-K2-Instruct-0905", "moonshotai/Kimi-K2-Thinking"),
    ),
    "together": Known(
        "Together AI",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        ("moonshotai/Kimi-K2.5", "moonshotai/Kimi-K2-Instruct-0905"),
    ),
    "fireworks": Known(
        "Fireworks AI",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        ("accounts/fireworks/models/kimi-k2p5", "accounts/fireworks/models/kimi-k2-instruct-0905"),
    ),
    "vllm": Known("vLLM", "http://127.0.0.1:8000/v1", "", ("moonshotai/Kimi-K2-Instruct-0905",), host="vllm"),
    "sglang": Known("SGLang", "http://127.0.0.1:30000/v1", "", ("moonshotai/Kimi-K2-Instruct-0905",), host="sglang"),
    "other": Known("another provider", "", "", ()),
}
