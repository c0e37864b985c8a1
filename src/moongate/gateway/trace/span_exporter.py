"""Sends finished spans in batches, in a thread of its own: a slow or dead receiver delays no answer.

What waits is bounded, and what is lost is counted: spans for which there is no room, those of an export that failed,
and those that the receiver refused.
"""

from __future__ import annotations

import gzip
import random
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Final
from urllib.parse import urlsplit

from moongate.gateway.record.metrics import Metrics
from moongate.gateway.trace.otel_environment import TraceSettings
from moongate.gateway.trace.otlp import export_request, refused_spans
from moongate.gateway.trace.span import Span

SCOPE: Final = "moongate"
MAX_ANSWER: Final = 64 * 1024
RETRIED: Final = frozenset({429, 502, 503, 504})  # as OTLP says
MAX_TRIES: Final = 4
MAX_WAIT: Final = 30.0  # seconds of a Retry-After that are waited
CLOSE_SECONDS: Final = 2.0


class SpanExporter:
    """`add` from the event loop; `close` sends the rest."""

    def __init__(self, settings: TraceSettings, version: str, metrics: Metrics, warn: Callable[[str], None]) -> None:
        self._settings, self._version, self._warn = settings, version, warn
        self._waiting: deque[Span] = deque()
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._worker: threading.Thread | None = None
        self._origin = urlsplit(settings.url).netloc  # a path may hold a key
        self._is_failing = False
        self._values = metrics.values
        # Each slot is written by one thread alone.
        self._sent = metrics.counter("moongate_spans_total")
        self._no_room, self._failed, self._refused = (
            metrics.counter("moongate_spans_lost_total", reason=reason) for reason in ("queue", "export", "refused")
        )

    def add(self, spans: Sequence[Span]) -> None:
        waiting = self._waiting
        if len(waiting) + len(spans) > self._settings.queue:
            self._values[self._no_room] += len(spans)
            return
        waiting.extend(spans)
        if self._worker is None:
            self._worker = threading.Thread(target=self._run, name="traces", daemon=True)
            self._worker.start()
        if len(waiting) >= self._settings.batch:
            self._wake.set()

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """Send the rest, but wait no longer than `seconds` for it."""
        self._stopped.set()
        self._wake.set()
        if self._worker is not None:
            self._worker.join(seconds)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._wake.wait(self._settings.delay)
            self._wake.clear()
            while self._waiting:
                self._export()

    def _export(self) -> None:
        waiting = self._waiting
        spans = [waiting.popleft() for _ in range(min(len(waiting), self._settings.batch))]
        body = export_request(spans, self._settings.resource, SCOPE, self._version)
        problem, answer = self._send(body)
        if problem:
            self._values[self._failed] += len(spans)
            if not self._is_failing:
                self._warn(f"traces cannot be sent to {self._origin}: {problem}; they are lost until they can")
        else:
            refused, why = refused_spans(answer)
            refused = min(refused, len(spans))
            self._values[self._refused] += refused
            self._values[self._sent] += len(spans) - refused
            if refused and not self._is_failing:
                self._warn(f"{self._origin} has refused {refused} of {len(spans)} spans: {why[:200]!r}")
            problem = "refused" if refused else ""
        self._is_failing = bool(problem)

    def _send(self, body: bytes) -> tuple[str, bytes]:
        """Why it failed, "" if it did not, and the answer."""
        for number in range(1, MAX_TRIES + 1):
            status, wait, answer, problem = self._post(body)
            if 200 <= status < 300:
                return "", answer
            again = number < MAX_TRIES and (not status or status in RETRIED)
            pause = min(wait, MAX_WAIT) if wait else (1 << number - 1) * random.uniform(0.5, 1.0)
            if not again or self._stopped.wait(pause):
                break
        return problem or f"it answered {status}", b""

    def _post(self, body: bytes) -> tuple[int, float, bytes, str]:
        """The status (0: there was none), seconds of its Retry-After, the answer, and why there was no status."""
        settings = self._settings
        parts = urlsplit(settings.url)
        headers = {"Content-Type": "application/x-protobuf", "User-Agent": f"moongate/{self._version}"}
        if settings.is_gzipped:
            body, headers["Content-Encoding"] = gzip.compress(body, 6), "gzip"
        connection: HTTPConnection | None = None
        try:
            if parts.scheme == "https":
                context = ssl.create_default_context(cafile=settings.ca_file or None)
                if settings.client_certificate is not None:
                    context.load_cert_chain(*settings.client_certificate, password="")  # else it asks at the terminal
                connection = HTTPSConnection(parts.netloc, timeout=settings.timeout, context=context)
            else:
                connection = HTTPConnection(parts.netloc, timeout=settings.timeout)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("POST", path, body, headers | dict(settings.headers))
            response = connection.getresponse()
            wait = response.headers.get("Retry-After", "")
            return (
                response.status,
                float(wait) if wait.isascii() and wait.isdigit() else 0.0,
                response.read(MAX_ANSWER),
                "",
            )
        except (OSError, HTTPException, ValueError) as error:
            return 0, 0.0, b"", str(getattr(error, "strerror", None) or type(error).__name__)
        finally:
            if connection is not None:
                connection.close()


def nanoseconds_offset() -> int:
    """What makes the time of `perf_counter`, in nanoseconds, the time since 1970."""
    return time.time_ns() - time.perf_counter_ns()
