"""A receiver of traces: an HTTP server that decodes what comes with the messages of opentelemetry-proto."""

from __future__ import annotations

import gzip
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TIMEOUT = 60.0


@dataclass
class Receiver:
    """`statuses` are those of the next answers; then 200. `refuse` is told as a partial success."""

    url: str = ""
    exports: list[ExportTraceServiceRequest] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    refuse: int = 0
    asked: int = 0

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for export in list(self.exports)
            for resource in export.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def until(self, found: Callable[[list[Span]], bool]) -> list[Span]:
        end = time.monotonic() + TIMEOUT
        while not found(self.spans):
            assert time.monotonic() < end, self.spans
            time.sleep(0.02)
        return self.spans

    def answer(self, head: dict[str, str], path: str, body: bytes) -> tuple[int, bytes]:
        self.asked += 1
        self.heads.append(head)
        if self.statuses:
            return self.statuses.pop(0), b"not now"
        assert path.endswith("/v1/traces")
        assert head["content-type"] == "application/x-protobuf"
        export = ExportTraceServiceRequest()
        export.ParseFromString(gzip.decompress(body) if head.get("content-encoding") == "gzip" else body)
        self.exports.append(export)
        answer = ExportTraceServiceResponse()
        if self.refuse:
            answer.partial_success.rejected_spans = self.refuse
            answer.partial_success.error_message = "too old"
        return 200, answer.SerializeToString()


def plain(value: AnyValue) -> object:
    kind = value.WhichOneof("value")
    assert kind is not None
    return [plain(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)


def attributes(pairs: Iterable[KeyValue]) -> dict[str, object]:
    return {pair.key: plain(pair.value) for pair in pairs}


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            head = {name.lower(): value for name, value in self.headers.items()}
            status, answer = receiver.answer(head, self.path, body)
            self.send_response(status)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
        receiver.url = f"https://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
