"""`moongate serve` where there is no uvloop: on the event loop of asyncio."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import openai
import pytest
from tests.cli.served import serving

QUESTION = "Use the tools."


@pytest.mark.parametrize("workers", ["1", "2"])
def test_the_gateway_runs_without_uvloop(workers: str, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "uvloop.py").write_text("raise ImportError('there is none here')")
    path = os.pathsep.join([str(hidden), *filter(None, sys.path)])
    with serving(tmp_path, "--workers", workers, PYTHONPATH=path) as served:
        root = served.root()
        key = (tmp_path / "home" / "client-key").read_text().strip()
        with openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0, timeout=60) as client:
            for stream in (False, True):
                answer = client.chat.completions.create(
                    model="kimi-k2-sim-markers", messages=[{"role": "user", "content": QUESTION}], stream=stream
                )
                assert list(answer)
            assert client.models.list().data
        assert served.stop() == 0
        assert "Traceback" not in served.err
