"""The peers that `make bench-peers` has installed: how each is started, and which fronts it has."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from bench.contender import KEY, MODELS, Contender, Started

CACHE = Path(os.environ.get("MOONGATE_BENCH_CACHE", Path.home() / ".cache" / "moongate" / "bench"))
NODE = str(CACHE / "node" / "node_modules" / ".bin" / "node")
PORTKEY = ("portkey", "node_modules", "@portkey-ai", "gateway")
LLMS = ("llms", "node_modules", "@musistudio", "llms")


def litellm(port: int, provider: int, folder: Path) -> Started:
    base = f"http://127.0.0.1:{provider}/v1"
    rows = [
        {
            "model_name": name,
            "litellm_params": {
                "model": f"openai/{name}",
                "api_base": base,
                "api_key": "k",
                "use_chat_completions_api": True,  # /v1/responses is translated, as everybody's is here
            },
        }
        for name in MODELS
    ]
    (folder / "config.json").write_text(json.dumps({"model_list": rows, "general_settings": {"master_key": KEY}}))
    command = [str(CACHE / "litellm" / "bin" / "litellm"), "--config", str(folder / "config.json")]
    return [*command, "--host", "127.0.0.1", "--port", str(port)], {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}


def portkey(port: int, provider: int, folder: Path) -> Started:
    server = CACHE.joinpath(*PORTKEY, "build", "start-server.js")
    return [NODE, str(server), f"--port={port}", "--headless"], {"NODE_ENV": "production"}


START_LLMS = """
const Server = require('@musistudio/llms').default;
const server = new Server({ jsonPath: process.argv[2], initialConfig: JSON.parse(process.argv[3]) });
server.start();
"""


def llms(port: int, provider: int, folder: Path) -> Started:
    home = CACHE / "llms"
    (home / "start.cjs").write_text(START_LLMS)
    settings = {
        "PORT": port,
        "HOST": "127.0.0.1",
        "LOG": False,
        "providers": [
            {
                "name": "up",
                "api_base_url": f"http://127.0.0.1:{provider}/v1/chat/completions",
                "api_key": "k",
                "models": MODELS,
            }
        ],
    }
    (folder / "config.json").write_text(json.dumps(settings))
    return [NODE, str(home / "start.cjs"), str(folder / "config.json"), json.dumps(settings)], {"PORT": str(port)}


def smg(port: int, provider: int, folder: Path) -> Started:
    command = [str(CACHE / "smg" / "bin" / "smg"), "launch", "--backend", "openai"]
    return [*command, "--worker-urls", f"http://127.0.0.1:{provider}", "--host", "127.0.0.1", "--port", str(port)], {}


def absent(*parts: str) -> Callable[[], str]:
    return lambda: "" if CACHE.joinpath(*parts).exists() else "not installed: make bench-peers"


def portkey_headers(provider: int) -> dict[str, str]:
    return {
        "authorization": f"Bearer {KEY}",
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": f"http://127.0.0.1:{provider}/v1",
    }


# SMG and Portkey pass /v1/messages and /v1/responses on to providers that have them: nothing there can be compared.
PEERS = (
    Contender("smg", smg, fronts=("chat",), missing=absent("smg", "bin", "smg"), title="SMG 1.13"),
    Contender(
        "portkey",
        portkey,
        fronts=("chat",),
        headers=portkey_headers,
        missing=absent(*PORTKEY),
        slow=True,
        title="Portkey 1.15",
    ),
    Contender(
        "llms", llms, prefix="up,", fronts=("chat", "messages"), missing=absent(*LLMS), slow=True, title="llms 1.0"
    ),
    Contender("litellm", litellm, missing=absent("litellm", "bin", "litellm"), slow=True, title="LiteLLM 1.105"),
)
