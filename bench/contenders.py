"""Who is measured: nginx, moongate (compiled, and as Python), and the peers that `make bench-peers` has installed.

Each contender is started in front of the same fake provider and asked through `path`, `headers` and a model name.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from bench.process import Running, free_port

CACHE = Path(os.environ.get("MOONGATE_BENCH_CACHE", Path.home() / ".cache" / "moongate" / "bench"))
NODE = str(CACHE / "node" / "node_modules" / ".bin" / "node")
COMPILED = Path(__file__).parent.parent / ".compiled" / "bin" / "python"
KEY = "sk-bench"
STREAMS_AT_ONCE = (1, 10, 100, 500, 1000, 2000)
CHUNK_SIZES = (10, 100, 1000, 10000)
CHUNKS_A_READ = (1, 4, 16, 64)


def paced(streams: int) -> str:
    """Fifty chunks, at most 4 000 a second in all: none of the processes is then the bottleneck."""
    return f"text-50-{max(5, streams // 4)}"


MODELS = [
    *("small", "hold", "text-100-5", "markers-100-5", "text-20000-0"),
    *dict.fromkeys(map(paced, STREAMS_AT_ONCE)),
    *(f"text-100-5-{size}" for size in CHUNK_SIZES),
    *(f"text-640-5-34-{per}" for per in CHUNKS_A_READ),
]


@dataclass
class Contender:
    name: str
    command: Callable[[int, int, Path], tuple[list[str], dict[str, str]]]  # (own port, provider's port, folder)
    path: str = "/v1/chat/completions"
    prefix: str = ""  # before the model's name
    headers: Callable[[int], dict[str, str]] = field(default=lambda provider: {"authorization": f"Bearer {KEY}"})
    missing: Callable[[], str] = field(default=lambda: "")  # why it cannot run here, or ""

    def start(self, provider: int) -> Running:
        port = free_port()
        folder = Path(tempfile.mkdtemp(prefix=f"bench-{self.name}-"))
        command, env = self.command(port, provider, folder)
        return Running(command, port, env=env, cwd=folder)


def nginx(port: int, provider: int, folder: Path) -> tuple[list[str], dict[str, str]]:
    (folder / "nginx.conf").write_text(f"""
        worker_processes 1; daemon off; pid {folder}/pid; error_log /dev/null;
        events {{ worker_connections 8192; }}
        http {{
          access_log off; client_max_body_size 64m; client_body_buffer_size 16m;
          client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
          fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
          upstream provider {{ server 127.0.0.1:{provider}; keepalive 512; }}
          server {{ listen 127.0.0.1:{port} backlog=4096; keepalive_requests 1000000;
            location / {{ proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection "";
              proxy_buffering off; proxy_read_timeout 600s; }} }} }}""")
    return [shutil.which("nginx") or "/usr/sbin/nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)], {}


def moongate(
    port: int, provider: int, folder: Path, workers: int = 1, python: str = str(COMPILED)
) -> tuple[list[str], dict[str, str]]:
    base = f"http://127.0.0.1:{provider}/v1"
    rows = (("plain", "Kimi"), ("agent", ["Kimi", {"preset": "agent"}]))
    config = {
        "port": port,
        "api_keys": [KEY],
        "limits": {"in_flight": 4000},
        "providers": [
            {"name": name, "api_base_url": base, "api_key": "k", "models": MODELS, "transformer": {"use": [use]}}
            for name, use in rows
        ],
    }
    (folder / "config.json").write_text(json.dumps(config))
    command = [python, "-m", "moongate", "serve", "--config", str(folder / "config.json")]
    return [*command, "--workers", str(workers)], {}


def litellm(port: int, provider: int, folder: Path) -> tuple[list[str], dict[str, str]]:
    rows = [
        {
            "model_name": name,
            "litellm_params": {
                "model": f"openai/{name}",
                "api_base": f"http://127.0.0.1:{provider}/v1",
                "api_key": "k",
            },
        }
        for name in MODELS
    ]
    (folder / "config.json").write_text(json.dumps({"model_list": rows, "general_settings": {"master_key": KEY}}))
    command = [str(CACHE / "litellm" / "bin" / "litellm"), "--config", str(folder / "config.json")]
    return [*command, "--host", "127.0.0.1", "--port", str(port)], {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}


def portkey(port: int, provider: int, folder: Path) -> tuple[list[str], dict[str, str]]:
    server = CACHE / "portkey" / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
    return [NODE, str(server), f"--port={port}", "--headless"], {"NODE_ENV": "production"}


LLMS = """
const Server = require('@musistudio/llms').default;
const server = new Server({ jsonPath: process.argv[2], initialConfig: JSON.parse(process.argv[3]) });
server.start();
"""


def llms(port: int, provider: int, folder: Path) -> tuple[list[str], dict[str, str]]:
    home = CACHE / "llms"
    (home / "start.cjs").write_text(LLMS)
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


def smg(port: int, provider: int, folder: Path) -> tuple[list[str], dict[str, str]]:
    command = [str(CACHE / "smg" / "bin" / "smg"), "launch", "--backend", "openai"]
    return [*command, "--worker-urls", f"http://127.0.0.1:{provider}", "--host", "127.0.0.1", "--port", str(port)], {}


def absent(*parts: str) -> Callable[[], str]:
    return lambda: "" if CACHE.joinpath(*parts).exists() else "not installed: make bench-peers"


CONTENDERS = {
    each.name: each
    for each in (
        Contender(
            "nginx",
            nginx,
            missing=lambda: "" if Path("/usr/sbin/nginx").exists() else "not installed: apt-get install nginx",
        ),
        Contender(
            "moongate",
            moongate,
            prefix="plain/",
            missing=lambda: "" if COMPILED.exists() else "not built: make compiled",
        ),
        Contender("moongate-python", partial(moongate, python=sys.executable), prefix="plain/"),
        Contender("smg", smg, missing=absent("smg", "bin", "smg")),
        Contender(
            "portkey",
            portkey,
            headers=lambda provider: {
                "authorization": f"Bearer {KEY}",
                "x-portkey-provider": "openai",
                "x-portkey-custom-host": f"http://127.0.0.1:{provider}/v1",
            },
            missing=absent("portkey", "node_modules", "@portkey-ai", "gateway"),
        ),
        Contender("llms", llms, prefix="up,", missing=absent("llms", "node_modules", "@musistudio", "llms")),
        Contender("litellm", litellm, missing=absent("litellm", "bin", "litellm")),
    )
}
