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
from functools import partial
from pathlib import Path
from time import process_time
from types import SimpleNamespace
from typing import Any

import orjson
import uvloop
from uvicorn.server import ServerState

from bench import turns
from bench.contender import KEY
from bench.contenders import providers
from bench.load import Job, Requests
from bench.upstream import CALLS_END, END, HEAD, MARKERS, ROLE, SMALL, STOP, ends_in, texts
from moongate.gateway.app import Gateway
from moongate.gateway.config.load import parse_config
from moongate.gateway.record.access_log import AccessLog
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.server.protocol import ClientProtocol
from moongate.gateway.server.resources import collect_rarely
from moongate.gateway.state import GatewayState
from moongate.net.connection import Connection

BATCH, BATCH_SECONDS = 50, 0.02  # requests between two iterations of the loop, and about how long they may take
READ = 64 * 1024  # bytes that a socket gives at once
USER_MESSAGES = [{"role": "user", "content": "Say hello, please."}]
TOOL = {"name": "read_file", "description": "Read a file", "parameters": {"type": "object", "properties": {}}}
CHAT: dict[str, Any] = {"model": "plain/small", "messages": USER_MESSAGES, "stream": False}
MESSAGES = {"model": "plain/small", "max_tokens": 512, "messages": USER_MESSAGES}
RESPONSES = {"model": "plain/small", "input": USER_MESSAGES, "tools": [{"type": "function", **TOOL}]}
AGENT = {"model": "agent/small", "messages": USER_MESSAGES, "tools": [{"type": "function", "function": TOOL}]}
TEXTS = texts(34, 1)

Step = Callable[[], bool | None]  # False: it cannot run yet, and is tried again
Steps = Callable[[], list[Step]]  # what one request does, each step in a callback of its own


class Wire(asyncio.Transport):
    """A transport that forgets what is written. Its socket is real, because a connection asks whether it is quiet."""

    def __init__(self, quiet: socket.socket) -> None:
        super().__init__()
        self._quiet = quiet
        self.written = False  # since somebody has set it to False

    def write(self, data: Any) -> None:
        self.written = True

    def writelines(self, list_of_data: Any) -> None:
        self.written = True

    def is_closing(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._quiet if name == "socket" else default

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class Inside:
    """A gateway with one client and one provider, both without a network."""

    def __init__(self, **more: object) -> None:
        """`more`: further settings."""
        loop = asyncio.get_running_loop()
        written = {"api_keys": [KEY], "providers": providers("http://127.0.0.1:9/v1"), **more}
        settings = parse_config(json.dumps(written), "config.json", Path.cwd(), {})
        self._metrics = metrics = Metrics(SharedCounters())
        self._nowhere = os.open(os.devnull, os.O_WRONLY)
        log = AccessLog(self._nowhere, style="json")
        self._gateway = gateway = Gateway(GatewayState(settings, settings.client_keys, metrics, None), metrics, log)
        self._ends = socket.socketpair()
        quiet = self._ends[0]
        config: Any = SimpleNamespace(loaded_app=gateway)
        self.client = ClientProtocol(config, ServerState(), {}, loop, handle=gateway.handle)
        self.client.connection_made(Wire(quiet))
        client: Any = gateway.state.targets[0].upstream  # all targets are at one origin
        self.provider = Connection(client._pool._on_free)
        self._to_provider = Wire(quiet)
        self.provider.connection_made(self._to_provider)
        client._pool._idle.append(self.provider)
        self.runs = 0

    def asked(self, path: str, body: str, reads: list[bytes], counted: list[str] | None = None) -> Steps:
        """One request and the reads of its answer. `counted`: see bench.load."""
        job = Job(path, body, {"authorization": f"Bearer {KEY}"}, counted=counted or [])
        requests = Requests(job, port=1)
        first = requests.next()
        ask, answer = self.client.data_received, self.provider.data_received

        def answered() -> bool:
            if not self._to_provider.written:  # a thread prepares the request
                return False
            self._to_provider.written = False
            self.runs += 1
            for read in reads:
                answer(read)
            return True

        def finished() -> bool:  # without the fast path it takes some iterations of the loop
            return not self._gateway.active_requests

        small: list[Step] = [partial(ask, first), answered, finished]
        done = 0

        def at_once() -> bool:
            """All steps of a short request, as far as they can run now."""
            nonlocal done
            while done < len(small):
                if small[done]() is False:
                    return False
                done += 1
            done = 0
            return True

        def steps() -> list[Step]:
            data = requests.next()
            return [*(partial(ask, data[at : at + READ]) for at in range(0, len(data), READ)), answered, finished]

        same: list[Step] = [at_once]
        return steps if len(first) > READ else lambda: same

    def close(self) -> None:
        """End it all, and the program with it if anything was not answered well."""
        self._gateway.close()
        os.close(self._nowhere)
        for end in self._ends:
            end.close()
        family = "moongate_requests_total\t"
        answers = {name: count for name, count in self._metrics.slots.totals().items() if name.startswith(family)}
        good = sum(count for name, count in answers.items() if 'status="200"' in name)
        if good != self.runs:
            sys.exit(f"{self.runs} requests, but {good} good answers: {answers}")


def streamed(count: int, chunks: list[bytes]) -> list[bytes]:
    return [HEAD + ROLE, *(chunks[at % len(chunks)] for at in range(count)), STOP + END]


def rows(inside: Inside) -> dict[str, Steps]:
    """Every row by its name."""

    def asked(front: str, body: dict[str, Any], reads: list[bytes]) -> Steps:
        return inside.asked(turns.FRONTS[front], json.dumps(body), reads)

    found = {
        "request": asked("chat", CHAT, [SMALL]),
        "request, messages": asked("messages", MESSAGES, [SMALL]),
        "request, responses": asked("responses", RESPONSES, [SMALL]),
    }
    for count in (1, 10, 100):
        found[f"stream of {count}"] = asked("chat", {**CHAT, "stream": True}, streamed(count, TEXTS))
    found["stream of 100, messages"] = asked("messages", {**MESSAGES, "stream": True}, streamed(100, TEXTS))
    found["stream of 100, responses"] = asked("responses", {**RESPONSES, "stream": True}, streamed(100, TEXTS))
    found["stream of 100, agent"] = asked("chat", {**AGENT, "stream": True}, streamed(100, TEXTS))
    found["stream of 100 with markers, agent"] = asked("chat", {**AGENT, "stream": True}, streamed(100, MARKERS))
    return found | turn_rows(inside)


ANSWERS = {
    "text-100-5": streamed(100, TEXTS),
    "call-100-5": [HEAD + ROLE, *ends_in(b"call", 100), CALLS_END + END],
    "marked-100-5": [HEAD + ROLE, *ends_in(b"marked", 100), STOP + END],
}


def turn_rows(inside: Inside) -> dict[str, Steps]:
    """The turn of an agent on every front and in every variant."""
    found = {}
    for variant in turns.VARIANTS:
        for front, path in turns.FRONTS.items():
            body = turns.body(front, turns.HEADLINE, f"{variant.provider}/{variant.answer}")
            counted = [turns.NEWEST, turns.REVISION] if variant.cold else [turns.NEWEST]
            name = f"turn, {front}" + (f", {variant.name}" if variant is not turns.PLAIN else "")
            found[name] = inside.asked(path, body, ANSWERS[variant.answer], counted)
    return found


def batch(run: Steps, size: int, over: asyncio.Future[None], rest: tuple[Step, ...] = ()) -> None:
    """Run it `size` times, in callbacks of the loop and in no task, as a socket's are. Short ones share a callback."""
    while rest or size:
        if not rest:
            size, rest = size - 1, tuple(run())
        if rest[0]() is not False:
            rest = rest[1:]
        if rest:  # whoever waits for this step goes on before the next one
            over.get_loop().call_soon(batch, run, size, over, rest)
            return
    over.set_result(None)


async def cpu_of(run: Steps, seconds: float) -> float:
    """CPU seconds of one run, what the loop does for it included."""
    loop = asyncio.get_running_loop()
    done, size, spent = 0, 1, 0.0
    while spent < seconds:
        began = process_time()
        over = loop.create_future()
        loop.call_soon(batch, run, size, over)
        await over
        took = process_time() - began
        if size < BATCH and took < BATCH_SECONDS:
            size = min(BATCH, size * 2)  # not counted: the first ones are slower
            continue
        done, spent = done + size, spent + took
    return spent / done


async def measured(only: list[str], seconds: float, rounds: int = 5) -> dict[str, float]:
    """The best of the rounds, in seconds."""
    inside = Inside()
    found = {name: run for name, run in rows(inside).items() if not only or name in only}
    request = json.dumps(CHAT).encode()

    def reference() -> None:
        orjson.dumps(orjson.loads(request))

    found["R"] = lambda: [reference]
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
    collect_rarely()  # as the server does
    best = uvloop.run(measured(asked.only, asked.seconds))
    for name, spent in best.items():
        print(f"{name:34}{spent * 1e6:8.1f} µs{spent / best['R']:8.1f} R")


if __name__ == "__main__":
    main()
