"""The agents, the fronts that each supports, and how each is configured and started without a terminal."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from moongate.cli import main
from moongate.cli.console import Console

PROMPT = "Use the tools, then tell me what you saw."


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One run of an agent: the gateway, the model, and an empty home folder."""

    root: str  # http://127.0.0.1:port
    key: str
    model: str
    front: str
    home: Path
    package: Path  # where the agent is installed

    def program(self, name: str) -> str:
        return str(self.package / "node_modules" / ".bin" / name)

    def connect(self, agent: str) -> None:
        """Set the agent up as its user does: `moongate connect AGENT --write`."""
        config = self.home / "moongate.json"
        provider = {"name": "p", "api_base_url": "http://127.0.0.1:1/v1", "api_key": "$NOT_SET", "models": [self.model]}
        config.write_text(json.dumps({"providers": [provider], "api_keys": [self.key]}), encoding="utf-8")
        console = Console({"HOME": str(self.home), "MOONGATE_HOME": str(self.home)}, interactive=False)
        arguments = ["connect", agent, "--write", "--config", str(config), "--url", self.root]
        with contextlib.redirect_stdout(io.StringIO()):
            if main(arguments, console) != 0:
                raise RuntimeError(f"moongate connect {agent} failed")

    def change(self, name: str, old: str, new: str) -> None:
        """Change what `connect` has written, for a front that it does not choose."""
        path = self.home / name
        text = path.read_text(encoding="utf-8")
        if old not in text:
            raise RuntimeError(f"{name} does not hold {old!r}")
        path.write_text(text.replace(old, new), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Command:
    argv: list[str]
    env: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Agent:
    name: str
    packages: tuple[str, ...]
    fronts: tuple[str, ...]
    command: Callable[[AgentRun], Command]
    new_node: bool = False


def _claude_code(run: AgentRun) -> Command:
    run.connect("claude-code")
    env = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    return Command([run.program("claude"), "-p", PROMPT, "--allowedTools", "Bash,Read,Glob"], env)


def _codex(run: AgentRun) -> Command:
    run.connect("codex")
    flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    return Command([run.program("codex"), "exec", *flags, PROMPT])


def _kimi_code(run: AgentRun) -> Command:
    run.connect("kimi-code")
    kind = {"chat": "kimi", "messages": "anthropic", "responses": "openai_responses"}[run.front]
    run.change(".kimi-code/config.toml", 'type = "kimi"', f'type = "{kind}"')
    if run.front == "messages":
        run.change(".kimi-code/config.toml", f"{run.root}/v1", run.root)
    return Command([run.program("kimi"), "-p", PROMPT])


def _opencode(run: AgentRun) -> Command:
    run.connect("opencode")
    package = {"chat": "@ai-sdk/openai-compatible", "messages": "@ai-sdk/anthropic"}[run.front]
    run.change(".config/opencode/opencode.json", "@ai-sdk/openai-compatible", package)
    return Command([run.program("opencode"), "run", PROMPT], {"OPENCODE_DISABLE_AUTOUPDATE": "1"})


def _qwen_code(run: AgentRun) -> Command:
    run.connect("qwen-code")
    kind = {"chat": "openai", "messages": "anthropic", "responses": "openai-responses"}[run.front]
    run.change(".qwen/settings.json", '"openai"', f'"{kind}"')
    if run.front == "messages":
        run.change(".qwen/settings.json", f"{run.root}/v1", run.root)
    return Command([run.program("qwen"), "--yolo", "-p", PROMPT])


def _cline(run: AgentRun) -> Command:
    run.connect("cline")
    return Command([run.program("cline"), PROMPT])


def _copilot(run: AgentRun) -> Command:
    run.connect("copilot")
    file = ".copilot/moongate.env"
    if run.front == "messages":
        run.change(file, "TYPE=openai", "TYPE=anthropic")
        run.change(file, f"{run.root}/v1", run.root)
    elif run.front == "responses":
        run.change(file, "WIRE_API=completions", "WIRE_API=responses")
    start = f'. ~/{file} && exec "$0" -p "$1" --allow-all-tools'
    return Command(["sh", "-c", start, run.program("copilot"), PROMPT])


_KILO_OFFLINE = dict.fromkeys(
    (
        f"KILO_DISABLE_{name}"
        for name in ("AUTOUPDATE", "MODELS_FETCH", "DEFAULT_PLUGINS", "SESSION_INGEST", "PRESENCE")
    ),
    "1",
)


def _kilo(run: AgentRun) -> Command:
    run.connect("kilo")
    package = {"chat": "@ai-sdk/openai-compatible", "messages": "@ai-sdk/anthropic"}[run.front]
    run.change(".config/kilo/kilo.json", "@ai-sdk/openai-compatible", package)
    return Command([run.program("kilo"), "run", "--auto", PROMPT], _KILO_OFFLINE)


def _pi(run: AgentRun) -> Command:
    run.connect("pi")
    kinds = {"chat": "openai-completions", "messages": "anthropic-messages", "responses": "openai-responses"}
    run.change(".pi/agent/models.json", "openai-completions", kinds[run.front])
    if run.front == "messages":
        run.change(".pi/agent/models.json", f"{run.root}/v1", run.root)
    return Command([run.program("pi"), "--model", f"moongate/{run.model}", "-p", PROMPT], {"PI_OFFLINE": "1"})


def _continue(run: AgentRun) -> Command:
    run.connect("continue")
    config = str(run.home / ".continue" / "moongate.yaml")
    env = {"CONTINUE_TELEMETRY_ENABLED": "0", "CONTINUE_CLI_ENABLE_TELEMETRY": "0"}
    return Command([run.program("cn"), "--config", config, "--auto", "-p", PROMPT], env)


def _grok_cli(run: AgentRun) -> Command:
    run.connect("grok-cli")
    return Command([run.program("grok"), "--model", run.model, "-p", PROMPT])


def _ai_sdk(run: AgentRun) -> Command:
    script = Path(__file__).with_name("ai_sdk.mjs")
    # Node looks for packages beside the script, so the script is copied into the folder of the packages.
    path = run.package / f"run-{script.name}"
    text = script.read_text(encoding="utf-8")
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return Command(["node", str(path), run.front, f"{run.root}/v1", run.key, run.model, PROMPT])


AGENTS = (
    Agent("claude-code", ("@anthropic-ai/claude-code@2.1.325",), ("messages",), _claude_code),
    Agent("codex", ("@openai/codex@0.166.0",), ("responses",), _codex),
    Agent("kimi-code", ("@moonshot-ai/kimi-code@2.1.0",), ("chat", "messages", "responses"), _kimi_code, new_node=True),
    Agent("opencode", ("opencode-ai@1.18.33",), ("chat", "messages"), _opencode),
    Agent("qwen-code", ("@qwen-code/qwen-code@0.24.4",), ("chat", "messages", "responses"), _qwen_code, new_node=True),
    Agent("cline", ("cline@3.0.65",), ("chat",), _cline, new_node=True),
    Agent("copilot", ("@github/copilot@1.0.102",), ("chat", "messages", "responses"), _copilot, new_node=True),
    Agent("kilo", ("@kilocode/cli@7.7.7",), ("chat", "messages"), _kilo, new_node=True),
    Agent("pi", ("@mariozechner/pi-coding-agent@0.73.1",), ("chat", "messages", "responses"), _pi, new_node=True),
    Agent("continue", ("@continuedev/cli@1.5.47",), ("chat",), _continue, new_node=True),
    Agent("grok-cli", ("@vibe-kit/grok-cli@0.0.34",), ("chat",), _grok_cli, new_node=True),
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
