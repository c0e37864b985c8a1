"""One page for each agent, made of what `moongate connect` writes and what `make agents` runs."""

from __future__ import annotations

from pathlib import Path

from tests.agents.catalogue import AGENTS as DRIVEN
from tests.agents.catalogue import Agent

from moongate.cli.agent_files import format_of
from moongate.cli.agent_settings import AgentSettings, GatewayAddress
from moongate.cli.agents import AGENTS

FOLDER = Path(__file__).parent / "agents"
GATEWAY = GatewayAddress("http://127.0.0.1:3000", "YOUR_CLIENT_KEY", "kimi-k2.6")
FRONTS = {
    "chat": "[chat completions](../chat.md)",
    "messages": "[messages](../messages.md)",
    "responses": "[responses](../responses.md)",
}
LANGUAGES = {".toml": "toml", ".json": "json", ".yaml": "json", ".env": "sh"}
LAST = """\
The address, the key and the model are those of your gateway. If something does not work, look it up
[by symptom](../troubleshooting.md)."""
ABOUT = {
    "claude-code": """\
It speaks the messages front alone. All of its model names (opus, sonnet, haiku) are set to yours;
otherwise it would ask for models that your provider does not have. `CLAUDE_CODE_MAX_CONTEXT_TOKENS`
tells it the context window; for a model that it does not know it would assume a million tokens.

With `-p` it prints `[claude-code:unrecognized_model]`, which does not matter.""",
    "codex": """\
It speaks the responses front alone. `moongate-models.json` tells it the context window and the tools of
your model, which is not in its own list. Without that file it would assume those of an unknown model.""",
    "opencode": """\
For the messages front, change `npm` to `@ai-sdk/anthropic`. Before its first turn it asks for a title:
the log has one request more than you expect.""",
    "kimi-code": """\
For another front, change `type` to `anthropic` (then `base_url` without `/v1`) or `openai_responses`. It
rewrites every id that it sends back (`functions_Bash_0`); moongate turns them into ids that Kimi reads.""",
    "kimi-cli": """\
The predecessor of Kimi Code, with the same settings in another file. No test runs it, because it is not in
the registries that the tests use.""",
    "cline": """\
The extension for VS Code has the same fields in its settings: API provider “OpenAI Compatible”.""",
    "qwen-code": """\
For another front, change `openai` to `anthropic` (then `baseUrl` without `/v1`) or `openai-responses`,
in both places.""",
    "copilot": """\
It reads a provider of your own from its environment only, so `--write` makes a file for the shell to
read. `COPILOT_OFFLINE` keeps it from asking GitHub for a login, and switches its web tools off.

For the responses front, set `COPILOT_PROVIDER_WIRE_API=responses`. For the messages front, set
`COPILOT_PROVIDER_TYPE=anthropic`, and the address without `/v1`.""",
    "kilo": """\
It is made of OpenCode and has the same settings. For the messages front, change `npm` to
`@ai-sdk/anthropic`.""",
    "pi": """\
For another front, change `api` to `anthropic-messages` (then `baseUrl` without `/v1`) or
`openai-responses`.""",
    "continue": """\
`connect` writes a file of its own and does not touch your `config.yaml`. The file is JSON, which Continue
reads as YAML.""",
    "grok-cli": """\
It starts with its own default model unless the command names another, so the command above names yours.""",
    "openai": """\
This works for every SDK that reads these two variables: the official ones for Python and JavaScript,
LangChain, LiteLLM, llm. For repairs without a gateway there are [transports](../embedding.md#inside-an-sdk).""",
}


def agent_pages() -> dict[Path, str]:
    return {FOLDER / f"{name}.md": _page(name, settings(GATEWAY)) for name, settings in AGENTS.items()}


def agents_table() -> str:
    rows = ["| agent | version | fronts | `connect` writes |", "|---|---|---|---|"]
    for agent in DRIVEN:
        if agent.name not in AGENTS:
            continue
        settings = AGENTS[agent.name](GATEWAY)
        files = (
            [str(settings.file), *(str(settings.file.with_name(name)) for name, _ in settings.beside)]
            if settings.file
            else []
        )
        written = ", ".join(f"`{file}`" for file in files)
        name = f"[{settings.about}](agents/{agent.name}.md)"
        rows.append(f"| {name} | {_version(agent)} | {', '.join(agent.fronts)} | {written} |")
    return "\n".join(rows) + "\n"


def _version(agent: Agent) -> str:
    return agent.packages[0].rpartition("@")[2]


def _page(name: str, settings: AgentSettings) -> str:
    title = settings.about[0].upper() + settings.about[1:]
    driven = next((agent for agent in DRIVEN if agent.name == name), None)
    parts = [f"# {title}"]
    if driven is not None:
        fronts = ", ".join(FRONTS[front] for front in driven.fronts)
        parts.append(
            f"`make agents` tests it in version {_version(driven)}, through {fronts}: [what was tested](../agents.md)."
        )
    if settings.file is None:
        parts.append(_block("sh", f"moongate connect {name}"))
        parts.append("It has no settings file. In the shell:")
        parts.append(_block("sh", "".join(f"export {key}={value}\n" for key, value in settings.shell)))
    else:
        parts.append(_block("sh", f"moongate connect {name} --write    # --undo takes it back"))
        parts.append(f"This writes into `{settings.file}`, and keeps everything else that is there:")
        values = settings.values or {}
        parts.append(_block(LANGUAGES[settings.file.suffix], format_of(settings.file).dump(values)))
        parts += [f"It also writes `{other}` beside that file." for other, _ in settings.beside]
    parts.append(f"Then:\n\n{_block('sh', settings.start)}")
    parts.append(ABOUT[name])
    parts.append(LAST)
    return "\n\n".join(parts) + "\n"


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"
