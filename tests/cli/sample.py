"""A configuration that uses most settings, and how the tests run a command in the working directory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from moongate.cli import main
from moongate.cli.console import Console

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


def run(arguments: Sequence[str], **environ: str) -> int:
    """Run a command without a terminal, with nothing in the environment but a home and `environ`."""
    return main(arguments, Console(_environ(environ), interactive=False))


def run_interactively(arguments: Sequence[str], answers: Sequence[str]) -> int:
    """Run a command on a terminal at which somebody types the answers."""
    typed = iter(answers)

    def read_line(prompt: str) -> str:
        print(prompt, end="")
        for answer in typed:
            return answer
        raise EOFError

    return main(arguments, Console(_environ({}), interactive=True, read_line=read_line))


def _environ(more: dict[str, str]) -> dict[str, str]:
    return {"HOME": str(Path.cwd()), "MOONGATE_HOME": str(Path.cwd() / "home"), **more}
