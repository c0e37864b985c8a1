"""A real gateway with its pages: `moongate serve` as a process, and a provider that plays what it is told."""

from __future__ import annotations

import contextlib
import html
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlencode

from tests.cli.served import CLIENT, PATH, Served, config, serving, write
from tests.gateway.scripted import DONE, Asked, Scripted, chunk
from tests.support.background import Background
from tests.support.canary import PROVIDER_KEY, WATCH
from tests.support.http import Reply, get, post, request

ADMIN_KEY = "canary-admin-key-0123456789-0123456789"
TIMEOUT = 60.0
T = TypeVar("T")
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
HOSTILE = '<script>window.hacked=1</script><img src=x onerror="window.hacked=1">\u202eesrever\x1b[31mred</pre></code>'
MARKERS = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}"
    "<|tool_call_end|><|tool_calls_section_end|>"
)


async def play(asked: Asked) -> None:
    """The last user message says what is answered."""
    said = str(asked.json["messages"][-1]["content"])
    if said == "fail":
        asked.document({"error": {"message": f"overloaded, your key is {PROVIDER_KEY}"}}, status=529)
        return
    text = {"markers": MARKERS, "hostile": HOSTILE, "secret": f"my key is {PROVIDER_KEY}"}.get(said, "Hello.")
    text = "A" * 10_000_000 if said == "long line" else text
    if not asked.json.get("stream"):
        asked.document(
            {"id": "c", "object": "chat.completion", "created": 1, "model": "m",
             "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
             "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}}
        )  # fmt: skip
        return
    asked.begin_stream()
    step = len(text) if said == "secret" else max(1, len(text) // 5)
    for at in range(0, len(text), step):
        asked.send(chunk(text[at : at + step]))
    asked.send(chunk("", "stop"))
    asked.send(DONE)
    asked.end_stream()


@dataclass
class Pages:
    """A gateway with its pages. `cookie` is that of a session, once `log_in` was called."""

    root: str
    admin: str
    served: Served
    cookie: str = ""

    def log_in(self, key: str = ADMIN_KEY) -> Reply:
        reply = self.form("/ui/login", {"key": key}, token=False)
        if "set-cookie" in reply.headers:
            self.cookie = reply.headers["set-cookie"].partition(";")[0]
        return reply

    def get(self, path: str, **headers: str) -> Reply:
        return get(self.admin + path, headers={"cookie": self.cookie, **headers})

    def form(self, path: str, fields: dict[str, str], *, token: bool = True, **headers: str) -> Reply:
        fields = {**fields, "token": self.token()} if token else fields
        sent = {"cookie": self.cookie, "origin": self.admin, "content-type": "application/x-www-form-urlencoded"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return request("POST", self.admin + path, urlencode(fields).encode(), key="", headers=sent)

    def token(self) -> str:
        found = re.search(rb'name="token" value="([0-9a-f]+)"', self.get("/ui/requests").body)
        assert found is not None
        return found[1].decode()

    def ask(self, said: str = "hi", *, path: str = PATH, key: str = CLIENT, **more: Any) -> Reply:
        body = {"model": "m", "messages": [{"role": "user", "content": said}], "tools": [TOOL], **more}
        if path.endswith("messages"):
            body |= {"max_tokens": 50, "tools": [{"name": "look", "input_schema": {"type": "object"}}]}
        return post(self.root + path, body, key=key)

    def capture_next(self, requests: int = 50) -> None:
        assert self.form("/ui/requests/capture", {"requests": str(requests)}).status == 303

    def rows(self, query: str = "") -> list[dict[str, str]]:
        """The rows of the list, by cell."""
        text = self.get(f"/ui/requests{query}").body.decode().partition('<tbody id="rows">')[2]
        found = []
        for line in re.findall(r"<tr class=.*?</tr>", text):
            cells = re.findall(r'<span class="c-(\w+)">(.*?)</span>', line)
            found.append({name: html.unescape(re.sub("<[^>]*>", "", cell)) for name, cell in cells})
        return found

    def row(self, reply: Reply) -> dict[str, str]:
        """The row of a request, when it is there."""
        name = reply.headers["x-request-id"]
        return until(lambda: next((row for row in self.rows() if row["id"] == name), None))

    def page(self, reply: Reply) -> str:
        """The page of a captured request, when it is there."""
        path = f"/ui/requests/{reply.headers['x-request-id']}"
        return until(lambda: text if 'id="timings"' in (text := self.get(path).body.decode()) else None)


def until(found: Callable[[], T | None]) -> T:
    """What it gives, as soon as that is something."""
    end = time.monotonic() + TIMEOUT
    while not (value := found()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return value


@contextlib.contextmanager
def pages(folder: Path, *arguments: str, **more: Any) -> Iterator[Pages]:
    """With these arguments of `serve` and these settings."""
    WATCH.know([ADMIN_KEY])
    with Background() as background:
        upstream = background.start(Scripted(play).start())
        settings = config(upstream, **{"admin": {"port": 0, "key": ADMIN_KEY}, **more})
        settings["providers"][0]["transformer"] = {"use": [["Kimi", {"preset": "agent"}]]}
        settings["providers"][0]["models"] = [{"name": "m", "price": {"input": 1, "output": 2}}]
        write(folder, json.loads(json.dumps(settings)))
        with serving(folder, *arguments) as served:
            root = served.root()
            yield Pages(root, served.find(r"admin: (http://\S+)", err=True)[1], served)
