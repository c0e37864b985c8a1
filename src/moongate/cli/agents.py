"""The settings that each coding agent needs to use a gateway. One function per agent; data in, data out."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate.payload import JsonObject, dumps_text

KEY_VARIABLE: Final = "MOONGATE_CLIENT_KEY"
CONTEXT_WINDOW: Final = 262_144  # tokens; of every generation since K2-0905
MAX_OUTPUT: Final = 32_768
# Models with a smaller window. The first K2 has no date in its name, or the date of July.
_SMALLER: Final = (
    (re.compile(r"moonshot-v1-8k"), 8_192),
    (re.compile(r"moonshot-v1-32k"), 32_768),
    (re.compile(r"moonshot-v1|k2-0711|k2-(instruct|base)$"), 131_072),
)
# Codex refuses a model catalogue without instructions.
CODEX_INSTRUCTIONS: Final = """\
You are a coding agent that works in the user's folder through the Codex CLI.

- Look before you change: read the files and run the commands that you need with the tools that you are given.
- Make the smallest change that does the task. Follow the style of the code around it. Fix causes, not symptoms.
- To edit files, use the shell: `apply_patch <<'EOF'` with a patch between `*** Begin Patch` and `*** End Patch`
  (`*** Update File: PATH`, `*** Add File: PATH`, `*** Delete File: PATH`; lines begin with a blank, `+` or `-`).
- Prefer `rg` for searching. Do not print large files as a whole.
- Never undo changes that you did not make, and never use destructive commands (`git reset --hard`, `rm -rf`) unasked.
- Test what you changed if the project has tests for it.
- Go on until the task is done. Then say briefly what you did, with paths, and what is left to do."""


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    """The gateway as an agent sees it, and the model that the agent shall use."""

    root: str  # without /v1
    key: str
    model: str
    window: int = CONTEXT_WINDOW

    @property
    def base(self) -> str:
        return self.root + "/v1"


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What to set for an agent: `values` in its `file` (JSON or TOML), or `shell` variables.

    `beside` are files of moongate's own that the settings name, in the same folder. `notes` are only shown.
    """

    about: str
    file: Path | None = None
    values: JsonObject | None = None
    beside: tuple[tuple[str, JsonObject], ...] = ()
    shell: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    start: str = ""  # the command that starts the agent


def context_window(model: str) -> int:
    """The tokens that a model takes, by its name. A server of your own may be set to less."""
    name = model.lower()
    return next((window for pattern, window in _SMALLER if pattern.search(name)), CONTEXT_WINDOW)


def claude_code(gateway: GatewayAddress) -> AgentSettings:
    names = ("ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL")
    models = dict.fromkeys((*names, "ANTHROPIC_DEFAULT_HAIKU_MODEL"), gateway.model)
    variables = {"ANTHROPIC_BASE_URL": gateway.root, "ANTHROPIC_AUTH_TOKEN": gateway.key, **models}
    variables["CLAUDE_CODE_MAX_CONTEXT_TOKENS"] = str(gateway.window)
    return AgentSettings(
        "Claude Code",
        Path("~/.claude/settings.json"),
        {"env": variables},
        shell=tuple(variables.items()),
        start="claude",
    )


def codex(gateway: GatewayAddress) -> AgentSettings:
    catalogue = "moongate-models.json"
    provider = {
        "name": "moongate",
        "base_url": gateway.base,
        "wire_api": "responses",
        "http_headers": {"Authorization": f"Bearer {gateway.key}"},
    }
    values = {
        "model": gateway.model,
        "model_provider": "moongate",
        "model_context_window": gateway.window,
        "model_catalog_json": catalogue,
        "model_providers": {"moongate": provider},
    }
    return AgentSettings(
        "Codex",
        Path("~/.codex/config.toml"),
        values,
        beside=((catalogue, {"models": [_codex_model(gateway)]}),),
        start="codex",
    )


def _codex_model(gateway: GatewayAddress) -> JsonObject:
    """What Codex must know of a model that is not in its own list."""
    return {
        "slug": gateway.model,
        "display_name": f"{gateway.model} (moongate)",
        "base_instructions": CODEX_INSTRUCTIONS,
        "context_window": gateway.window,
        "truncation_policy": {"mode": "tokens", "limit": 10_000},
        "shell_type": "shell_command",
        "supports_parallel_tool_calls": True,
        "supported_reasoning_levels": [],
        "supports_reasoning_summaries": True,
        "support_verbosity": False,
        "experimental_supported_tools": [],
        "visibility": "list",
        "supported_in_api": True,
        "priority": 1,
    }


def opencode(gateway: GatewayAddress) -> AgentSettings:
    limit = {"context": gateway.window, "output": min(MAX_OUTPUT, gateway.window // 2)}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "moongate",
        "options": {"baseURL": gateway.base, "apiKey": gateway.key},
        "models": {gateway.model: {"name": gateway.model, "limit": limit}},
    }
    values = {
        "$schema": "https://opencode.ai/config.json",
        "model": f"moongate/{gateway.model}",
        "provider": {"moongate": provider},
    }
    return AgentSettings("OpenCode", Path("~/.config/opencode/opencode.json"), values, start="opencode")


def kimi_cli(gateway: GatewayAddress) -> AgentSettings:
    return AgentSettings("kimi-cli", Path("~/.kimi/config.toml"), _kimi(gateway), start="kimi")


def kimi_code(gateway: GatewayAddress) -> AgentSettings:
    return AgentSettings("Kimi Code", Path("~/.kimi-code/config.toml"), _kimi(gateway), start="kimi")


def _kimi(gateway: GatewayAddress) -> JsonObject:
    return {
        "default_model": "moongate",
        "providers": {"moongate": {"type": "kimi", "base_url": gateway.base, "api_key": gateway.key}},
        "models": {
            "moongate": {"provider": "moongate", "model": gateway.model, "max_context_size": gateway.window},
        },
    }


def cline(gateway: GatewayAddress) -> AgentSettings:
    provider = "openai-compatible"
    settings = {"provider": provider, "apiKey": gateway.key, "model": gateway.model, "baseUrl": gateway.base}
    entry = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    return AgentSettings(
        "Cline",
        Path("~/.cline/data/settings/providers.json"),
        {"version": 1, "lastUsedProvider": provider, "providers": {provider: entry}},
        notes=(
            "in its extension for VS Code: API Provider OpenAI Compatible, and the same",
            f"Base URL {gateway.base}, API Key {gateway.key}, Model ID {gateway.model}",
        ),
        start="cline",
    )


def qwen_code(gateway: GatewayAddress) -> AgentSettings:
    model = {
        "id": gateway.model,
        "name": f"{gateway.model} (moongate)",
        "baseUrl": gateway.base,
        "envKey": KEY_VARIABLE,
        "generationConfig": {"contextWindowSize": gateway.window},
    }
    values = {
        "env": {KEY_VARIABLE: gateway.key},
        "modelProviders": {"openai": [model]},
        "security": {"auth": {"selectedType": "openai"}},
        "model": {"name": gateway.model},
    }
    return AgentSettings("Qwen Code", Path("~/.qwen/settings.json"), values, start="qwen")


def openai_sdk(gateway: GatewayAddress) -> AgentSettings:
    ask = f'model={dumps_text(gateway.model)}, messages=[{{"role": "user", "content": "Hello"}}]'
    code = f"import openai; print(openai.OpenAI().chat.completions.create({ask}).choices[0].message.content)"
    return AgentSettings(
        "the OpenAI SDKs",
        shell=(("OPENAI_BASE_URL", gateway.base), ("OPENAI_API_KEY", gateway.key)),
        notes=(f"model: {gateway.model}",),
        start=f"python -c {shlex.quote(code)}",
    )


AGENTS: Final[dict[str, Callable[[GatewayAddress], AgentSettings]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "opencode": opencode,
    "kimi-code": kimi_code,
    "kimi-cli": kimi_cli,
    "cline": cline,
    "qwen-code": qwen_code,
    "openai": openai_sdk,
}
