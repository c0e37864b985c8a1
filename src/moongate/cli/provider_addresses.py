"""The providers of chat completions that other servers know by a name: address, and the variable with the key."""

from __future__ import annotations

from typing import Final, NamedTuple


class NamedAddress(NamedTuple):
    """`url` is "" where only the operator knows it."""

    url: str
    variable: str = ""


_MOONSHOT: Final = NamedAddress("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY")
_TOGETHER: Final = NamedAddress("https://api.together.xyz/v1", "TOGETHER_API_KEY")
_FIREWORKS: Final = NamedAddress("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY")
_OWN: Final = NamedAddress("")

ADDRESSES: Final = {
    "baseten": NamedAddress("https://inference.baseten.co/v1", "BASETEN_API_KEY"),
    "cerebras": NamedAddress("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "dashscope": NamedAddress("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
    "deepinfra": NamedAddress("https://api.deepinfra.com/v1/openai", "DEEPINFRA_API_KEY"),
    "deepseek": NamedAddress("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "fireworks-ai": _FIREWORKS,
    "fireworks_ai": _FIREWORKS,
    "groq": NamedAddress("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": NamedAddress("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "moonshot": _MOONSHOT,
    "moonshotai": _MOONSHOT,
    "moonshotai-cn": NamedAddress("https://api.moonshot.cn/v1", "MOONSHOT_API_KEY"),
    "nebius": NamedAddress("https://api.studio.nebius.ai/v1", "NEBIUS_API_KEY"),
    "novita": NamedAddress("https://api.novita.ai/v3/openai", "NOVITA_API_KEY"),
    "nvidia_nim": NamedAddress("https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY"),
    "openai": NamedAddress("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": NamedAddress("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "siliconflow": NamedAddress("https://api.siliconflow.com/v1", "SILICONFLOW_API_KEY"),
    "together_ai": _TOGETHER,
    "togetherai": _TOGETHER,
    "volcengine": NamedAddress("https://ark.cn-beijing.volces.com/api/v3", "VOLCENGINE_API_KEY"),
    "xai": NamedAddress("https://api.x.ai/v1", "XAI_API_KEY"),
    **dict.fromkeys(
        ("custom_openai", "hosted_vllm", "litellm_proxy", "llamafile", "lm_studio", "openai_like", "vllm"), _OWN
    ),
}
