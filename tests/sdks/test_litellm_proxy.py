"""LiteLLM's proxy as a process, with and without three added lines."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from tests.support.background import Background
from tests.support.loops import EXPECTED_CALLS, TOOLS

from moongate import sim
from moongate.sim import SimServer, model_name

ROOT = Path(__file__).parent.parent.parent
START_SECONDS = 240.0
KEY = f"sk-{secrets.token_hex(32)}"  # of the proxies that this file starts: without a strong one they refuse to start
# What LiteLLM's proxy hands on as it comes, so that clients fail.
MENDED = ("foreign-ids", "repeated-ids", "markers", "markers-cut", "markers-reasoning", "stop-finish", "clean")
BROKEN = ("foreign-ids", "markers", "markers-cut", "markers-reasoning")
OFFERED: list[Any] = [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in TOOLS]


@pytest.fixture(scope="module")
def simulator() -> Iterator[SimServer]:
    with Background() as background:
        yield background.start(sim.start(play="strict"))


@contextlib.contextmanager
def proxy(simulator: SimServer, folder: Path, added: str) -> Iterator[str]:
    """A running proxy; `added` are lines of its configuration."""
    models = [
        f"  - model_name: {name}\n    litellm_params:\n      model: openai/{name}\n"
        f"      api_base: {simulator.url}\n      api_key: key\n      max_retries: 0\n"
        for name in (model_name("k2.5", row) for row in MENDED)
    ]
    folder.mkdir()
    config = folder / "config.yaml"
    config.write_text("model_list:\n" + "".join(models) + added, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("LITELLM_")},
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_MASTER_KEY": KEY,
        "PYTHONPATH": str(ROOT / "src"),
    }
    command = [str(Path(sys.executable).parent / "litellm"), "--config", str(config), "--host", "127.0.0.1"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port), "--telemetry", "False"], env=environment, stdout=log, stderr=log, cwd=folder
        )
        try:
            _wait(process, f"http://127.0.0.1:{port}/health/liveliness", folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(30)


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(errors="replace")[-3000:]
        try:
            with urllib.request.urlopen(url, timeout=10):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise AssertionError(log.read_text(errors="replace")[-3000:])


def finishes(root: str, row: str, *, stream: bool) -> bool:
    """Whether the three-call task is finished."""
    client = openai.OpenAI(base_url=root, api_key=KEY, max_retries=0, timeout=60)
    plain: Any = client.chat.completions
    messages: list[Any] = [{"role": "user", "content": "Use the tools."}]
    seen: list[tuple[str, Any]] = []
    message: Any = None
    try:
        for _turn in range(3):
            asked: dict[str, Any] = {"model": model_name("k2.5", row), "messages": messages, "tools": OFFERED}
            if stream:
                with plain.stream(**asked) as events:
                    message = events.get_final_completion().choices[0].message
            else:
                message = plain.create(**asked).choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls or []:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": f"result {len(seen)}"})
                seen.append((call.function.name, json.loads(call.function.arguments)))
    except openai.APIStatusError as error:
        print(row, stream, error)
        return False
    finally:
        client.close()
    print(row, stream, seen, message.content)
    return seen == list(EXPECTED_CALLS) and (message.content or "").startswith("Done, 3 results")


def refused_as_the_clients_fault(root: str) -> None:
    """A result without the id of its call: no fault of the deployment, so it is asked again afterwards."""
    client = openai.OpenAI(base_url=root, api_key=KEY, max_retries=0, timeout=60)
    plain: Any = client.chat.completions
    model = model_name("k2.5", "clean")
    with pytest.raises(openai.BadRequestError, match=r"messages\[1\].tool_call_id"):
        plain.create(model=model, messages=[{"role": "user", "content": "Hi"}, {"role": "tool", "content": "12:00"}])
    assert plain.create(model=model, messages=[{"role": "user", "content": "Hi"}]).choices
    client.close()


ADDED = """
litellm_settings:
  callbacks: ["moongate.litellm.kimi"]
"""


def test_three_added_lines_mend_what_the_proxy_hands_on(simulator: SimServer, tmp_path: Path) -> None:
    ways = [(row, stream) for row in MENDED for stream in (False, True)]
    with proxy(simulator, tmp_path / "hooked", ADDED) as root:
        assert [way for way in ways if not finishes(root, way[0], stream=way[1])] == []
        refused_as_the_clients_fault(root)


def test_without_them_clients_fail(simulator: SimServer, tmp_path: Path) -> None:
    with proxy(simulator, tmp_path / "plain", "") as root:
        assert [row for row in BROKEN if finishes(root, row, stream=True)] == []
