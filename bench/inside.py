"""What a request and a stream take inside the gateway, everything on: all but the sockets and the loop.

    python -m bench.inside [--only NAME ...] [--seconds S]

With `.compiled/bin/python` it is the compiled gateway. R is one `orjson.loads` + `orjson.dumps` of the small request.
CPU time, one process, rounds that take turns, the best of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any

import orjson
import uvloop
from uvicorn.server import ServerState

from bench.contenders import KEY
from bench.upstream import END, HEAD, MARKERS, ROLE, SMALL, STOP, texts
from moongate.gateway.access_log import AccessLog
from moongate.gateway.app import Gateway
from moongate.gateway.config.load import parse_config
from moongate.gateway.metrics import Metrics
from moongate.gateway.protocol import Protocol
from moongate.gateway.slots import Slots
from moongate.gateway.state import State
from moongate.net.connection import Connection

BATCH = 50  # requests between two turns of the loop
SAID = [{"role": "user", "content": "Say hello, please."}]
TOOL = {"name": "read_file", "description": "Read a file", "parameters": {"type": "object", "properties": {}}}
CHAT: dict[str, Any] = {"model": "plain/kimi-k2", "messages": SAID, "stream": False}
MESSAGES = {"model": "plain/kimi-k2", "max_tokens": 512, "messages": SAID}
RESPONSES = {"model": "plain/kimi-k2", "input": SAID, "tools": [{"type": "function", **TOOL}]}
AGENT = {"model": "agent/kimi-k2", "messages": SAID, "tools": [{"type": "function", "function": TOOL}]}
TEXTS = texts(34, 1)


class Wire(asyncio.Transport):
    """A transport that forgets what is written. Its socket is real, because a connection asks whether it is quiet."""

    def __init__(self, quiet: socket.socket) -> None:
        super().__init__()
        self._quiet = quiet

    def write(self, data: Any) -> None: ...

    def writelines(self, list_of_data: Any) -> None: ...

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._quiet if name == "socket" else default

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None: ...

    def abort(self) -> None: ...


class Inside:
    """A gateway with one client and one provider, both without a network."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        use = (("plain", "Kimi"), ("agent", ["Kimi", {"preset": "agent"}]))
        providers = [
            {
                "name": name,
                "api_base_url": "http://127.0.0.1:9/v1",
                "api_key": "k",
                "models": ["kimi-k2"],
                "transformer": {"use": [each]},
            }
            for name, each in use
        ]
        config = parse_config(json.dumps({"api_keys": [KEY], "providers": providers}), "config.json", Path.cwd(), {})
        self._metrics = metrics = Metrics(Slots())
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        log = AccessLog(self._nowhere, style="json")
        self._gateway = gateway = Gateway(State(config, config.client_keys, metrics, None), metrics, log)
        self._ends = socket.socketpair()
        quiet = self._ends[0]
        self.client = Protocol(SimpleNamespace(loaded_app=gateway), ServerState(), {}, loop)  # type: ignore[arg-type]
        self.client.connection_made(Wire(quiet))
        client: Any = gateway.state.targets[0].upstream  # all targets are at one origin
        self.provider = Connection(client._pool._free)
        self.provider.connection_made(Wire(quiet))
        client._pool._idle.append(self.provider)

    def asked(self, path: str, body: dict[str, Any], reads: list[bytes]) -> Callable[[], None]:
        """One request and the reads of its answer."""
        said = json.dumps(body).encode()
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1:1\r\ncontent-type: application/json\r\n"
        request = f"{head}authorization: Bearer {KEY}\r\ncontent-length: {len(said)}\r\n\r\n".encode() + said
        ask, answer = self.client.data_received, self.provider.data_received

        def run() -> None:
            ask(request)
            for read in reads:
                answer(read)

        return run

    def close(self) -> None:
        """End it all, and the program with it if anything was not answered well."""
        self._gateway.close()
        os.close(self._nowhere)
        for end in self._ends:
            end.close()
        family = "moongate_requests_total\t"
        answers = {name: count for name, count in self._metrics.slots.totals().items() if name.startswith(family)}
        bad = {name: count for name, count in answers.items() if 'status="200"' not in name}
        if bad or not answers:
            sys.exit(f"not every request was answered: {bad}")


def streamed(count: int, chunks: list[bytes]) -> list[bytes]:
    return [HEAD + ROLE, *(chunks[at % len(chunks)] for at in range(count)), STOP + END]


def rows(inside: Inside) -> dict[str, Callable[[], None]]:
    chat, messages, responses = "/v1/chat/completions", "/v1/messages", "/v1/responses"
    found = {
        "request": inside.asked(chat, CHAT, [SMALL]),
        "request, messages": inside.asked(messages, MESSAGES, [SMALL]),
        "request, responses": inside.asked(responses, RESPONSES, [SMALL]),
    }
    for count in (1, 10, 100):
        reads = streamed(count, TEXTS)
        found[f"stream of {count}"] = inside.asked(chat, {**CHAT, "stream": True}, reads)
    found["stream of 100, messages"] = inside.asked(messages, {**MESSAGES, "stream": True}, streamed(100, TEXTS))
    found["stream of 100, responses"] = inside.asked(responses, {**RESPONSES, "stream": True}, streamed(100, TEXTS))
    found["stream of 100, agent"] = inside.asked(chat, {**AGENT, "stream": True}, streamed(100, TEXTS))
    found["stream of 100 with markers, agent"] = inside.asked(chat, {**AGENT, "stream": True}, streamed(100, MARKERS))
    return found


async def cpu_of(run: Callable[[], None], seconds: float) -> float:
    """CPU seconds of one run, what the loop does for it included."""
    loop = asyncio.get_running_loop()
    done = 0
    began = process_time()
    while process_time() - began < seconds:
        turn = loop.create_future()

        def batch(turn: asyncio.Future[None] = turn) -> None:  # in the loop, but in no task, as a socket's callback is
            for _ in range(BATCH):
                run()
            turn.set_result(None)

        loop.call_soon(batch)
        await turn
        done += BATCH
    return (process_time() - began) / done


async def measured(only: list[str], seconds: float, rounds: int = 5) -> dict[str, float]:
    """The best of the rounds, in seconds."""
    inside = Inside()
    found = {name: run for name, run in rows(inside).items() if not only or name in only}
    said = json.dumps(CHAT).encode()

    def reference() -> None:
        orjson.dumps(orjson.loads(said))

    found["R"] = reference
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, run in found.items():
            spent = await cpu_of(run, seconds / rounds)
            best[name] = min(best.get(name, spent), spent)
    inside.close()
    return best


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", nargs="*", default=[])
    options.add_argument("--seconds", type=float, default=1.5)
    asked = options.parse_args()
    best = uvloop.run(measured(asked.only, asked.seconds))
    for name, spent in best.items():
        print(f"{name:34}{spent * 1e6:8.1f} µs{spent / best['R']:8.1f} R")


if __name__ == "__main__":
    main()
