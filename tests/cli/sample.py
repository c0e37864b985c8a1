"""A configuration with something of everything, and how it gets into the working directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CONFIG: dict[str, Any] = {
    "providers": [
        {
            "name": "p",
            "api_base_url": "https://api.example.com",
            "api_key": "sk-canary-1234",
            "models": ["kimi-k2", {"name": "kimi-k3", "alias": "best", "fallback": "kimi-k2"}],
            "transformer": {"use": [["Kimi", {"preset": "agent"}], "CustomTransformer"]},
        },
        {"name": "plain", "api_base_url": "http://10.0.0.1/v1", "api_key": "sk-canary-5678", "models": ["x"]},
    ],
    "api_keys": ["client-canary-1"],
    "aliases": {"claude-*": "kimi-k2"},
    "default": "kimi-k2",
    "port": 4321,
}


def write(value: Any = CONFIG, name: str = "config.json") -> None:
    Path(name).write_text(json.dumps(value))
