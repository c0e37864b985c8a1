"""What coding agents need to be told about a gateway. One function per agent; data in, text out."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from moongate.payload import JsonObject, dumps_text


@dataclass(frozen=True, slots=True)
class Gate:
    """The gateway as an agent sees it."""

    root: str  # without /v1
    key: str
    model: str

    @property
    def base(self) -> str:
        return self.root + "/v1"


@dataclass(frozen=True, slots=True)
class Settings:
    """What an agent needs. `json` is merged into a JSON file, `toml` appended to a TOML file, `shell` only shown."""

    about: str
    file: Path | None = None
    json: JsonObject | None = None
    toml: str = ""
    shell: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    start: str = ""


def claude_code(gate: Gate) -> Settings:
    names = ("ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL")
    models = dict.fromkeys((*names, "ANTHROPIC_DEFAULT_HAIKU_MODEL"), gate.model)
    variables = {"ANTHROPIC_BASE_URL": gate.root, "ANTHROPIC_AUTH_TOKEN": gate.key, **models}
    return Settings(
        "Claude Code",
        Path("~/.claude/settings.json"),
        json={"env": variables},
        shell=tuple(variables.items()),
        start="claude",
    )


def codex(gate: Gate) -> Settings:
    toml = "\n".join(
        [
            "[model_providers.moongate]",
            'name = "moongate"',
            f"base_url = {dumps_text(gate.base)}",
            'env_key = "MOONGATE_CLIENT_KEY"',
            'wire_api = "responses"',
        ]
    )
    shell = (("MOONGATE_CLIENT_KEY", gate.key),)
    # Where profiles live has changed between versions of Codex; flags work in all of them.
    start = f"codex -c model_provider=moongate -m {shlex.quote(gate.model)}"
    return Settings("Codex", Path("~/.codex/config.toml"), toml=toml, shell=shell, start=start)


def opencode(gate: Gate) -> Settings:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "moongate",
        "options": {"baseURL": gate.base, "apiKey": gate.key},
        "models": {gate.model: {"name": gate.model}},
    }
    return Settings(
        "OpenCode",
        Path("~/.config/opencode/opencode.json"),
        json={"$schema": "https://opencode.ai/config.json", "provider": {"moongate": provider}},
        start=f"opencode -m moongate/{gate.model}",
    )


def kimi_cli(gate: Gate) -> Settings:
    return Settings("kimi-cli", Path("~/.kimi/config.toml"), toml=_kimi(gate), start="kimi -m moongate")


def kimi_code(gate: Gate) -> Settings:
    return Settings("Kimi Code", Path("~/.kimi-code/config.toml"), toml=_kimi(gate), start="kimi -m moongate")


def _kimi(gate: Gate) -> str:
    return "\n".join(
        [
            "[providers.moongate]",
            'type = "kimi"',
            f"base_url = {dumps_text(gate.base)}",
            f"api_key = {dumps_text(gate.key)}",
            "",
            "[models.moongate]",
            'provider = "moongate"',
            f"model = {dumps_text(gate.model)}",
            "max_context_size = 262144",
        ]
    )


def cline(gate: Gate) -> Settings:
    words = (
        "API Provider: OpenAI Compatible",
        f"Base URL: {gate.base}",
        f"OpenAI Compatible API Key: {gate.key}",
        f"Model ID: {gate.model}",
    )
    return Settings("Cline (in its settings)", words=words)


def qwen_code(gate: Gate) -> Settings:
    shell = (("OPENAI_BASE_URL", gate.base), ("OPENAI_API_KEY", gate.key), ("OPENAI_MODEL", gate.model))
    return Settings("Qwen Code", shell=shell, start="qwen --auth-type openai")


def openai_sdk(gate: Gate) -> Settings:
    ask = f'model={dumps_text(gate.model)}, messages=[{{"role": "user", "content": "Hello"}}]'
    code = f"import openai; print(openai.OpenAI().chat.completions.create({ask}).choices[0].message.content)"
    return Settings(
        "the OpenAI SDKs",
        shell=(("OPENAI_BASE_URL", gate.base), ("OPENAI_API_KEY", gate.key)),
        words=(f"model: {gate.model}",),
        start=f"python -c {shlex.quote(code)}",
    )


AGENTS: Final[dict[str, Callable[[Gate], Settings]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "opencode": opencode,
    "kimi-code": kimi_code,
    "kimi-cli": kimi_cli,
    "cline": cline,
    "qwen-code": qwen_code,
    "openai": openai_sdk,
}


def merged(old: Any, new: Any) -> Any:
    """`new` laid into `old`: objects are merged, anything else is replaced."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), value) for key, value in new.items()}}
    return new
