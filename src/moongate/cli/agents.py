"""The settings that each coding agent needs to use a gateway. One function per agent; data in, data out."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Final

from moongate.cli.agent_settings import AgentSettings, GatewayAddress
from moongate.payload import JsonObject, dumps_text

KEY_VARIABLE: Final = "MOONGATE_CLIENT_KEY"
MAX_OUTPUT: Final = 32_768
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
    values = {"$schema": "https://opencode.ai/config.json", **_opencode(gateway)}
    return AgentSettings("OpenCode", Path("~/.config/opencode/opencode.json"), values, start="opencode")


def kilo(gateway: GatewayAddress) -> AgentSettings:
    """A fork of OpenCode, with the same settings."""
    return AgentSettings("Kilo Code", Path("~/.config/kilo/kilo.json"), _opencode(gateway), start="kilo")


def _opencode(gateway: GatewayAddress) -> JsonObject:
    limit = {"context": gateway.window, "output": _output(gateway)}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "moongate",
        "options": {"baseURL": gateway.base, "apiKey": gateway.key},
        "models": {gateway.model: {"name": gateway.model, "limit": limit}},
    }
    return {"model": f"moongate/{gateway.model}", "provider": {"moongate": provider}}


def _output(gateway: GatewayAddress) -> int:
    """The tokens of an answer: never more than half of the window."""
    return min(MAX_OUTPUT, gateway.window // 2)


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
    settings = {
        "provider": provider,
        "apiKey": gateway.key,
        "model": gateway.model,
        "baseUrl": gateway.base,
        "contextWindow": gateway.window,
    }
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


def pi(gateway: GatewayAddress) -> AgentSettings:
    model = {"id": gateway.model, "reasoning": True, "contextWindow": gateway.window, "maxTokens": _output(gateway)}
    provider = {
        "baseUrl": gateway.base,
        "api": "openai-completions",
        "apiKey": gateway.key,
        "models": [model],
    }
    start = f"pi --model {shlex.quote(f'moongate/{gateway.model}')}"
    return AgentSettings("pi", Path("~/.pi/agent/models.json"), {"providers": {"moongate": provider}}, start=start)


def continue_cli(gateway: GatewayAddress) -> AgentSettings:
    """A configuration of its own: config.yaml would lose its comments. JSON is YAML."""
    file = "~/.continue/moongate.yaml"
    model = {
        "name": "moongate",
        "provider": "openai",
        "model": gateway.model,
        "apiBase": gateway.base,
        "apiKey": gateway.key,
        "roles": ["chat", "edit", "apply"],
        "capabilities": ["tool_use"],
        "defaultCompletionOptions": {"contextLength": gateway.window, "maxTokens": _output(gateway)},
    }
    values = {"name": "moongate", "version": "1.0.0", "schema": "v1", "models": [model]}
    return AgentSettings("Continue", Path(file), values, start=f"cn --config {file}")


def copilot(gateway: GatewayAddress) -> AgentSettings:
    """It takes a provider of one's own from its environment alone."""
    file = "~/.copilot/moongate.env"
    variables = {
        "COPILOT_OFFLINE": "true",  # else it asks GitHub for a login
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_WIRE_API": "completions",
        "COPILOT_PROVIDER_BASE_URL": gateway.base,
        "COPILOT_PROVIDER_API_KEY": gateway.key,
        "COPILOT_MODEL": gateway.model,
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(gateway.window),
        "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": str(_output(gateway)),
    }
    start = f". {file} && copilot"
    return AgentSettings("Copilot CLI", Path(file), variables, shell=tuple(variables.items()), start=start)


def grok_cli(gateway: GatewayAddress) -> AgentSettings:
    """Its own model is the default of every folder, so that the command must name another."""
    values = {"apiKey": gateway.key, "baseURL": gateway.base, "defaultModel": gateway.model}
    start = f"grok --model {shlex.quote(gateway.model)}"
    return AgentSettings("grok-cli", Path("~/.grok/user-settings.json"), values, start=start)


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
    "copilot": copilot,
    "kilo": kilo,
    "pi": pi,
    "continue": continue_cli,
    "grok-cli": grok_cli,
    "openai": openai_sdk,
}
