"""A new front is one row: with a made-up one the gateway serves its path, its errors, its models and its pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''
from moongate.dialects import fronts


class ShoutDialect:
    """Chat with an upper-case answer."""

    name = "shout"
    passes_bytes_through = False

    def __getattr__(self, name):
        return getattr(fronts.CHAT, name)

    def encode(self, reply, client_request):
        return {"shout": reply["choices"][0]["message"]["content"].upper()}

    def error(self, error):
        return {"oh no": error.status}


fronts.FRONTS = (
    *fronts.FRONTS,
    fronts.Front(
        "/v1/shout",
        ShoutDialect(),
        client_header=b"x-shout",
        models=lambda models: {"data": [name.upper() for name, _ in models]},
        pages={"/v1/shout/size": lambda body: {"size": len(body)}},
    ),
)

from tests.gateway.scripted import Scripted
from tests.support.background import Background
from tests.support.gateway import KEY, run_gateway
from tests.support.http import get, post


async def answer(asked):
    asked.document()


with Background() as background:
    upstream = background.start(Scripted(answer).start())
    provider = {"name": "p", "api_base_url": upstream.url, "models": ["m"]}
    with run_gateway({"providers": [provider]}) as gateway:
        ask = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        for path in ("/v1/shout", "/shout"):
            assert post(gateway.root + path, ask, key=KEY).json() == {"shout": "HELLO."}
        assert post(gateway.root + "/v1/shout", {"model": "x"}, key=KEY).json() == {"oh no": 404}
        assert get(gateway.root + "/v1/shout/nothing", key=KEY).json() == {"oh no": 404}
        assert get(gateway.root + "/v1/models", key=KEY, headers={"x-shout": "1"}).json() == {"data": ["M"]}
        assert post(gateway.root + "/v1/shout/size", {"a": 1, "b": 2}, key=KEY).json() == {"size": 2}
        assert post(gateway.root + "/v1/shout/size", {"a": 1}).status == 401
        assert 'front="shout",status="200"' in get(gateway.root + "/metrics", key=KEY).body.decode()
'''


@pytest.mark.interpreted("replaces a constant of a module")
def test_a_made_up_front_is_served_without_a_change_of_the_gateway() -> None:
    environment = {"PYTHONPATH": ":".join([str(Path(__file__).parents[2]), *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
