"""What an open page costs the gateway: CPU time per small request, with the list of requests open and with it closed.

    python -m bench.page_cost [--rounds N] [--python PATH [--source FOLDER]] [--json FILE]

500 requests a second, 10 000 requests in the ring. The gateways run at the same time and take turns. One has its page
closed in every round, once more under another name: the difference of these two is the noise. A fourth has no pages.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import urllib.error
import urllib.request
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Self
from urllib.parse import urlencode

from bench.contender import Contender
from bench.contenders import AGAIN, COMPILED, build
from bench.harness import Bench, drive
from bench.process import free_port
from bench.rows import REQUEST, job

ADMIN_KEY = "bench-admin-key-0123456789-0123456789"
CLOSED, OPEN, NONE = "page closed", "page open", "no pages"
FIGURE = "CPU µs per request"
RATE = 500.0
SECONDS = 4.0
KEPT = 10_000  # requests in the ring before anything is measured


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


class OpenPage(AbstractContextManager["OpenPage"]):
    """Reads the events that keep the list of requests up to date, as a browser does."""

    def __init__(self, port: int) -> None:
        self.read = 0
        self._socket = socket.create_connection(("127.0.0.1", port))
        cookie = log_in(port)
        head = f"GET /ui/events? HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncookie: {cookie}\r\n\r\n"
        self._socket.sendall(head.encode())
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while data := self._socket.recv(1 << 16):
            self.read += len(data)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()


def log_in(port: int) -> str:
    """The cookie of a session."""
    root = f"http://127.0.0.1:{port}"
    body = urlencode({"key": ADMIN_KEY}).encode()
    asked = urllib.request.Request(f"{root}/ui/login", body, {"origin": root})
    try:
        urllib.request.build_opener(NoRedirect).open(asked)
    except urllib.error.HTTPError as answer:
        return str(answer.headers["set-cookie"]).partition(";")[0]
    raise RuntimeError("the login was not answered with a redirect")


def measured(bench: Bench, contender: Contender, admin: dict[str, int], read: dict[str, int]) -> None:
    running = bench.running[contender]
    work = job(contender, bench.provider_port, REQUEST, requests=int(RATE * SECONDS), concurrency=1, rate=RATE)
    port = admin[contender.name]
    with OpenPage(port) if contender.name == OPEN else nullcontext() as page:
        before = running.cpu()
        done = drive(running.port, work)
        spent = running.cpu() - before
    if done["errors"]:
        raise RuntimeError(str(done["first_error"]))
    bench.samples.add(contender.name, FIGURE, spent * 1e6 / done["done"])
    bench.samples.add(contender.name, "requests a second", done["done"] / done["seconds"])
    if isinstance(page, OpenPage):
        read["bytes"] = read.get("bytes", 0) + page.read


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=12)
    options.add_argument("--python", default=str(COMPILED))
    options.add_argument("--source", default="", help="folder that the package is taken from, if not the installed one")
    options.add_argument("--json", type=Path)
    asked = options.parse_args()
    names = (CLOSED, CLOSED + AGAIN, OPEN, NONE)
    admin = {name: free_port() for name in names}
    common = {"api_keys": "none", "store": "off"}
    contenders = [
        build(name, asked.python, source=asked.source,
              settings={**common, "admin": {"port": admin[name], "key": ADMIN_KEY, "ui": name != NONE}})
        for name in names
    ]  # fmt: skip
    read: dict[str, int] = {}
    with Bench(contenders) as bench:
        for contender in contenders:
            work = job(contender, bench.provider_port, REQUEST, requests=KEPT, concurrency=16)
            drive(bench.running[contender].port, work)
        for _ in range(asked.rounds):
            for contender in bench.order():
                measured(bench, contender, admin, read)
        samples = bench.samples
    for name in names:
        ratio, cost = samples.ratio(name, FIGURE, CLOSED), samples.median(name, FIGURE)
        rate = samples.median(name, "requests a second")
        print(f"{name:20} {cost:7.1f} µs  {(ratio or 0) - 1:+.1%}  {rate:.0f}/s")
    print(f"events read by the page: {read['bytes']:,} bytes")
    if asked.json:
        asked.json.write_text(json.dumps({"samples": samples.values}, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
