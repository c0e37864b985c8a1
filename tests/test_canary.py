"""The watch over secrets in all tests (`support/canary.py`) finds what it is there to find."""

from __future__ import annotations

import os
import subprocess
import sys
from base64 import b64encode, urlsafe_b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.gateway.scripted import Asked, Scripted
from tests.support.background import Background
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY, WATCH, Watch, search_folder
from tests.support.gateway import run_gateway
from tests.support.http import post

ROOT = Path(__file__).parents[1]
LEAKS = {
    "output": "print(PROVIDER_KEY)",
    "error output": "print(PROVIDER_KEY, file=sys.stderr)",
    "log": "logging.getLogger('x').error('%s', PROVIDER_KEY)",
    "output that the test takes": "print(PROVIDER_KEY); capsys.readouterr()",
}
TEST = """
import logging, sys
from tests.support.canary import PROVIDER_KEY, WATCH
def test_it(capsys):
    WATCH.know([PROVIDER_KEY])
    {}
"""


@pytest.fixture
def watch() -> Watch:
    watch = Watch()
    watch.know([PROVIDER_KEY, "none"])
    return watch


@pytest.mark.parametrize("before", ["", "Bearer ", "user:", "x", "xy", "é"])
@pytest.mark.parametrize("after", ["", "z", "zz", "\n"])
def test_every_form_is_found(watch: Watch, before: str, after: str) -> None:
    text = before + PROVIDER_KEY + after
    shown = (text, quote(text), quote(text, safe=""), b64encode(text.encode()), urlsafe_b64encode(text.encode()))
    for each in (*shown, text.encode().hex(), text.replace("/", "\\/")):
        watch.search(each if isinstance(each, bytes) else each.encode(), "a test")
        assert watch.take(), each
    watch.search(b"nothing of the kind, none, sk-canary", "a test")
    assert not watch.take()


async def leaky(asked: Asked) -> None:
    """The model says the key: that is the provider's own business, but for the watch a leak like any other."""
    text = (CLIENT_KEY, PROVIDER_KEY, b64encode(PROVIDER_KEY.encode()).decode())[asked.number % 3]
    message = {"role": "assistant", "content": text}
    if not asked.json.get("stream"):
        asked.document({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        return
    asked.begin_stream()
    for half in (b'data: {"choices": [{"index": 0, "delta": {"content": "%b', b'%b"}, "finish_reason": "stop"}]}\n\n'):
        cut = text[:7] if half.startswith(b"data") else text[7:]
        asked.send(half % cut.encode())
    asked.send(b"data: [DONE]\n\n")
    asked.end_stream()


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_is_searched(stream: bool) -> None:
    ask: dict[str, Any] = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "Hi"}]}
    with Background() as background:
        upstream = background.start(Scripted(leaky).start())
        provider = {"name": "p", "api_base_url": upstream.url, "models": ["m"]}
        with run_gateway({"providers": [provider]}) as gateway:
            for _ in range(3):
                assert post(f"{gateway.root}/v1/chat/completions", ask, key=gateway.key).status == 200
                leaks = WATCH.take()
                assert len(leaks) >= 2  # at the gateway's socket and at the client's
                assert all("an answer" in leak for leak in leaks)


def test_a_folder_is_searched_but_for_what_holds_secrets(watch: Watch, tmp_path: Path) -> None:
    for name in ("config.json", "client-key"):
        (tmp_path / name).write_text(PROVIDER_KEY)
    search_folder(tmp_path, watch)
    assert not watch.take()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "err.txt").write_text(f"x{PROVIDER_KEY}y")
    search_folder(tmp_path, watch)
    assert len(watch.take()) == 1


@pytest.mark.parametrize("leak", [*LEAKS.values(), "pass"], ids=[*LEAKS, "nothing"])
def test_a_test_that_leaks_fails(tmp_path: Path, leak: str) -> None:
    (tmp_path / "test_leak.py").write_text(TEST.format(leak))
    options = ["-q", "-p", "no:cacheprovider", "-p", "tests.support.canary_hooks", "--rootdir", "."]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "/dev/null", *options, str(tmp_path / "test_leak.py")],
        cwd=ROOT,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (leak != "pass"), done.stdout + done.stderr
    assert ("canary: " in done.stdout) == (leak != "pass")
