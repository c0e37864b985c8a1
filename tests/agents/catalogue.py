"""Which agents are driven, on which fronts, and how each is pointed at a gateway and asked without a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

PROMPT = "Use the tools, then tell me what you saw."


@dataclass(frozen=True, slots=True)
class Errand:
    """One run: where the gateway is, what to ask it for, in which (empty) home."""

    root: str  # http://127.0.0.1:port
    key: str
    model: str
    front: str
    home: Path
    package: Path  # where the agent is installed

    def program(self, name: str) -> str:
        return str(self.package / "node_modules" / ".bin" / name)

    def write(self, name: str, text: str) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path


@dataclass(frozen=True, slots=True)
class Command:
    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    name: str
    packages: tuple[str, ...]
    fronts: tuple[str, ...]
    command: Callable[[Errand], Command]
    new_node: bool = False


def _claude_code(errand: Errand) -> Command:
    env = {
        "ANTHROPIC_BASE_URL": errand.root,
        "ANTHROPIC_AUTH_TOKEN": errand.key,
        "ANTHROPIC_MODEL": errand.model,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Command([errand.program("claude"), "-p", PROMPT, "--allowedTools", "Bash,Read,Glob"], env)


def _codex(errand: Errand) -> Command:
    errand.write(
        ".codex/config.toml",
        f'model = "{errand.model}"\nmodel_provider = "gw"\n\n[model_providers.gw]\nname = "gw"\n'
        f'base_url = "{errand.root}/v1"\nenv_key = "GATEWAY_KEY"\nwire_api = "responses"\n',
    )
    argv = [
        errand.program("codex"),
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        PROMPT,
    ]
    return Command(argv, {"GATEWAY_KEY": errand.key})


def _kimi_code(errand: Errand) -> Command:
    kind = {"chat": "kimi", "messages": "anthropic", "responses": "openai_responses"}[errand.front]
    base = errand.root if errand.front == "messages" else f"{errand.root}/v1"
    errand.write(
        "kimi/config.toml",
        f'default_model = "sim"\n\n[providers.gw]\ntype = "{kind}"\nbase_url = "{base}"\napi_key = "{errand.key}"\n\n'
        f'[models.sim]\nprovider = "gw"\nmodel = "{errand.model}"\nmax_context_size = 131072\n',
    )
    return Command([errand.program("kimi"), "-p", PROMPT], {"KIMI_CODE_HOME": str(errand.home / "kimi")})


def _opencode(errand: Errand) -> Command:
    package = {"chat": "@ai-sdk/openai-compatible", "messages": "@ai-sdk/anthropic"}[errand.front]
    options = {"baseURL": f"{errand.root}/v1", "apiKey": errand.key}
    provider = {"npm": package, "name": "gw", "options": options, "models": {errand.model: {"name": errand.model}}}
    config = {"$schema": "https://opencode.ai/config.json", "provider": {"gw": provider}, "autoupdate": False}
    path = errand.write("opencode.json", json.dumps(config))
    env = {"OPENCODE_CONFIG": str(path), "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    return Command([errand.program("opencode"), "run", "-m", f"gw/{errand.model}", PROMPT], env)


def _qwen_code(errand: Errand) -> Command:
    kind = {"chat": "openai", "messages": "anthropic", "responses": "openai-responses"}[errand.front]
    argv = [errand.program("qwen"), "--auth-type", kind, "--model", errand.model, "--yolo", "-p", PROMPT]
    if errand.front == "messages":
        return Command(
            argv, {"ANTHROPIC_BASE_URL": errand.root, "ANTHROPIC_API_KEY": errand.key, "ANTHROPIC_MODEL": errand.model}
        )
    env = {"OPENAI_BASE_URL": f"{errand.root}/v1", "OPENAI_API_KEY": errand.key, "OPENAI_MODEL": errand.model}
    return Command(argv, env)


def _ai_sdk(errand: Errand) -> Command:
    script = Path(__file__).with_name("ai_sdk.mjs")
    # Node looks for packages beside the script, so it is run from the folder with the packages.
    path = errand.package / f"run-{script.name}"
    text = script.read_text(encoding="utf-8")
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return Command(["node", str(path), errand.front, f"{errand.root}/v1", errand.key, errand.model, PROMPT])


AGENTS = (
    Agent("claude-code", ("@anthropic-ai/claude-code@2.1.325",), ("messages",), _claude_code),
    Agent("codex", ("@openai/codex@0.166.0",), ("responses",), _codex),
    Agent("kimi-code", ("@moonshot-ai/kimi-code@2.1.0",), ("chat", "messages", "responses"), _kimi_code, new_node=True),
    Agent("opencode", ("opencode-ai@1.18.33",), ("chat", "messages"), _opencode),
    Agent("qwen-code", ("@qwen-code/qwen-code@0.24.4",), ("chat", "messages", "responses"), _qwen_code, new_node=True),
    Agent(
        "ai-sdk",
        (
            "ai@7.0.169",
            "@ai-sdk/openai@4.0.114",
            "@ai-sdk/openai-compatible@3.0.90",
            "@ai-sdk/anthropic@4.0.102",
            "zod@4.1.12",
        ),
        ("chat", "messages", "responses"),
        _ai_sdk,
        new_node=True,
    ),
)
