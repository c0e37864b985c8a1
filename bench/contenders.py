"""Who is measured: nginx, moongate (compiled, as Python, and without its fast path), and the peers.

`build` makes a contender of any other build of moongate, for a comparison of two in one run; `again` a second process
of a contender, whose difference from the first is the noise of the run.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.contender import KEY, MODELS, Contender, Started
from bench.peers import PEERS
from bench.turns import RULES, VARIANTS

ROOT = Path(__file__).parent.parent
COMPILED = ROOT / ".compiled" / "bin" / "python"
NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
AGAIN = ", again"
PLAIN_PATH = {"MOONGATE_FAST": "0"}


def nginx(port: int, provider: int, folder: Path) -> Started:
    (folder / "nginx.conf").write_text(f"""
        worker_processes 1; daemon off; pid {folder}/pid; error_log /dev/null;
        events {{ worker_connections 16384; }}
        http {{
          access_log off; client_max_body_size 64m; client_body_buffer_size 16m;
          client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
          fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
          upstream provider {{ server 127.0.0.1:{provider}; keepalive 512; }}
          server {{ listen 127.0.0.1:{port} backlog=4096; keepalive_requests 1000000;
            location / {{ proxy_pass http://provider; proxy_http_version 1.1; proxy_set_header Connection "";
              proxy_buffering off; proxy_read_timeout 600s; }} }} }}""")
    return [NGINX, "-c", str(folder / "nginx.conf"), "-p", str(folder)], {}


def providers(base: str) -> list[dict[str, Any]]:
    """moongate's providers: the fake one, under a name for each set of Kimi's options."""
    options: dict[str, dict[str, Any]] = {"plain": {}, "agent": {"preset": "agent"}}
    options |= {variant.provider: {**RULES, **variant.options} for variant in VARIANTS}
    return [
        {"name": name, "api_base_url": base, "api_key": "k", "models": MODELS, "transformer": {"use": [["Kimi", each]]}}
        for name, each in options.items()
    ]


def build(
    name: str,
    python: str,
    *,
    source: str = "",
    workers: int = 1,
    env: Mapping[str, str] | None = None,
    settings: Mapping[str, object] | None = None,
    prepare: Callable[[dict[str, Any], Path], None] | None = None,
    title: str = "",
) -> Contender:
    """moongate as `python -m moongate`; `source` is the folder its package is taken from, "" what is installed.
    `prepare` changes the configuration, and makes what belongs to it in the folder."""

    def command(port: int, provider: int, folder: Path) -> Started:
        limits = {"in_flight": 6000, "connections": 6000}
        config = {"port": port, "api_keys": [KEY], "limits": limits, "log": {"format": "json"}, **(settings or {})}
        config["providers"] = providers(f"http://127.0.0.1:{provider}/v1")
        if prepare is not None:
            prepare(config, folder)
        (folder / "config.json").write_text(json.dumps(config))
        serve = [python, "-m", "moongate", "serve", "--config", str(folder / "config.json")]
        return [*serve, "--workers", str(workers)], {"PYTHONPATH": source, "MOONGATE_HOME": str(folder), **(env or {})}

    def missing() -> str:
        return "" if shutil.which(python) else "not built: make compiled" if python == str(COMPILED) else f"no {python}"

    return Contender(name, command, prefix="plain/", missing=missing, build=True, title=title)


def again(contender: Contender) -> Contender:
    return replace(contender, name=contender.name + AGAIN)


CONTENDERS = {
    each.name: each
    for each in (
        Contender(
            "nginx", nginx, missing=lambda: "" if Path(NGINX).exists() else "not installed: apt-get install nginx"
        ),
        build("moongate", str(COMPILED)),
        build("moongate-python", sys.executable, source=str(ROOT / "src"), title="as Python"),
        build("moongate-plain", str(COMPILED), env=PLAIN_PATH, title="`MOONGATE_FAST=0`"),
        replace(
            build("moongate-no-store", str(COMPILED), settings={"store": "off"}, title="`store: off`"),
            rows=frozenset(["request"]),
        ),
        *PEERS,
    )
}
QUICK = ["nginx", "moongate", "moongate-python"]  # of the short form, unless others are named
