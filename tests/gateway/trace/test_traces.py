"""Traces of a real gateway, sent to a receiver that decodes the protocol."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from tests.cli.served import CLIENT, PATH, Served, config, serving, write
from tests.gateway.scripted import Asked, Scripted
from tests.gateway.trace.receiver import Receiver, attributes, receiving
from tests.gateway.ui.running import TOOL, play
from tests.support.background import Background
from tests.support.canary import PROVIDER_KEY, WATCH
from tests.support.certificates import CertificateAuthority
from tests.support.http import Reply, get, post

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
CONTEXT = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1"}
SERVER, CLIENT_KIND = 2, 3


class Traced:
    """A gateway whose traces go to a receiver."""

    def __init__(self, served: Served, receiver: Receiver, heads: list[Asked]) -> None:
        self.served, self.receiver, self.upstream_heads = served, receiver, heads
        self.root = served.root()

    def ask(self, said: str, *, path: str = PATH, headers: dict[str, str] | None = None, **more: Any) -> Reply:
        body = {"model": "m", "messages": [{"role": "user", "content": said}], "tools": [TOOL], **more}
        return post(self.root + path, body, key=CLIENT, headers=headers or {})

    def spans(self, reply: Reply) -> tuple[Span, list[Span]]:
        """The server's span of a request, and those of its attempts."""
        name = reply.headers["x-request-id"]

        def server(spans: list[Span]) -> Span | None:
            return next(
                (each for each in spans if attributes(each.attributes).get("moongate.request_id") == name), None
            )

        spans = self.receiver.until(lambda found: server(found) is not None)
        found = server(spans)
        assert found is not None
        return found, [each for each in spans if each.parent_span_id == found.span_id]

    def metric(self, name: str) -> float:
        text = get(self.root + "/metrics", key=CLIENT).body.decode()
        return sum(float(value) for value in re.findall(rf"^{re.escape(name)}(?:{{.*}})? (\S+)$", text, re.M))


@contextmanager
def traced(folder: Path, *arguments: str, tls: Any = None, **variables: str) -> Iterator[Traced]:
    asked: list[Asked] = []

    async def answer(each: Asked) -> None:
        asked.append(each)
        await play(each)

    with Background() as background, receiving(tls) as receiver:
        settings = config(background.start(Scripted(answer).start()), retries={"backoff": 0.01})
        settings["providers"][0]["transformer"] = {"use": [["Kimi", {"preset": "agent"}]]}
        settings["providers"][0]["models"] = [{"name": "m", "price": {"input": 1, "output": 2}}]
        write(folder, settings)
        known = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_BSP_SCHEDULE_DELAY": "50", **variables}
        with serving(folder, *arguments, stdout=None, **known) as served:
            yield Traced(served, receiver, asked)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Traced]:
    headers = {"OTEL_EXPORTER_OTLP_HEADERS": "x-key=the%20key", "OTEL_SERVICE_NAME": "moongate-test"}
    with traced(tmp_path_factory.mktemp("traced"), "--workers", "2", **headers) as running:
        yield running


@pytest.mark.parametrize("stream", [True, False])
def test_a_request_is_a_server_span_with_a_client_span_and_events(gateway: Traced, stream: bool) -> None:
    reply = gateway.ask("markers", stream=stream)
    server, attempts = gateway.spans(reply)
    about = attributes(server.attributes)
    assert (server.kind, server.name, server.parent_span_id) == (SERVER, f"POST {PATH}", b"")
    assert (about["http.response.status_code"], about["moongate.front"], about["moongate.worth"]) == (
        200,
        "chat",
        "repaired",
    )
    [attempt] = attempts
    about = attributes(attempt.attributes)
    assert (attempt.kind, attempt.name, attempt.trace_id) == (CLIENT_KIND, "chat m", server.trace_id)
    assert (about["gen_ai.system"], about["gen_ai.request.model"], about["gen_ai.operation.name"]) == ("p", "m", "chat")
    assert about["http.response.status_code"] == 200
    assert about.get("gen_ai.request.stream", False) is stream
    if not stream:
        assert (about["gen_ai.usage.input_tokens"], about["gen_ai.usage.output_tokens"]) == (7, 2)
        assert about["gen_ai.usage.cost"] == pytest.approx(0.000011)
    kinds = [attributes(event.attributes)["kind"] for event in attempt.events]
    assert "markers_parsed" in kinds
    assert {event.name for event in attempt.events} == {"moongate.repair"}
    assert server.start_time_unix_nano <= attempt.start_time_unix_nano <= attempt.end_time_unix_nano
    assert attempt.end_time_unix_nano <= server.end_time_unix_nano
    resource = gateway.receiver.exports[0].resource_spans[0].resource
    assert attributes(resource.attributes)["service.name"] == "moongate-test"
    assert gateway.receiver.heads[0]["x-key"] == "the key"


def test_the_clients_trace_goes_on_to_the_provider(gateway: Traced) -> None:
    server, [attempt] = gateway.spans(gateway.ask("hi", headers=CONTEXT))
    assert (server.trace_id.hex(), server.parent_span_id.hex(), server.trace_state) == (TRACE, PARENT, "vendor=1")
    asked = next(
        each for each in gateway.upstream_heads if (each.header("traceparent") or "").startswith(f"00-{TRACE}")
    )
    assert asked.header("traceparent") == f"00-{TRACE}-{attempt.span_id.hex()}-01"
    assert asked.header("tracestate") == "vendor=1"


def test_each_attempt_has_a_span_and_failures_have_no_secret(gateway: Traced) -> None:
    reply = gateway.ask("fail")
    server, attempts = gateway.spans(reply)
    assert len(attempts) >= 2
    assert attributes(server.attributes)["moongate.attempts"] == len(attempts)
    assert {attempt.status.code for attempt in attempts} == {2}
    assert {attributes(attempt.attributes)["http.response.status_code"] for attempt in attempts} == {529}
    assert server.status.code == 2
    assert attributes(server.attributes)["error.type"] == str(reply.status)
    assert PROVIDER_KEY not in str(gateway.receiver.exports)


def test_no_content_is_sent_and_a_refused_request_has_a_server_span_alone(gateway: Traced) -> None:
    reply = post(gateway.root + PATH, {"model": "unknown,x", "messages": []}, key=CLIENT)
    server, attempts = gateway.spans(reply)
    assert (attempts, server.status.code, attributes(server.attributes)["http.response.status_code"]) == (
        [],
        0,
        reply.status,
    )
    gateway.spans(gateway.ask("nobody may read this"))
    assert "nobody may read this" not in str(gateway.receiver.exports)


def test_an_unsampled_trace_is_passed_on_and_not_recorded(gateway: Traced) -> None:
    header = f"00-{'ab' * 16}-{PARENT}-00"
    gateway.ask("hi", headers={"traceparent": header})
    gateway.spans(gateway.ask("hi"))
    assert header in [each.header("traceparent") for each in gateway.upstream_heads]
    assert not any(span.trace_id.hex() == "ab" * 16 for span in gateway.receiver.spans)


def test_content_and_newest_names_for_who_asks(tmp_path: Path) -> None:
    asked = {
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
    }
    with traced(tmp_path, **asked) as gateway:
        for stream in (True, False):
            _, [attempt] = gateway.spans(gateway.ask("secret", stream=stream))
            about = attributes(attempt.attributes)
            assert about["gen_ai.provider.name"] == "p"
            assert "gen_ai.system" not in about
            [question] = json.loads(str(about["gen_ai.input.messages"]))
            assert question == {"role": "user", "parts": [{"type": "text", "content": "secret"}]}
            [answer] = json.loads(str(about["gen_ai.output.messages"]))
            assert answer["parts"][0]["content"].startswith("my key is ")
        assert PROVIDER_KEY not in str(gateway.receiver.exports)
        assert gateway.served.stop() == 0
    assert len(WATCH.take()) == 2  # the answers themselves: the provider said it, and the client gets what it says


def test_what_cannot_be_sent_is_counted_and_told_once(tmp_path: Path) -> None:
    with traced(tmp_path, OTEL_BSP_MAX_EXPORT_BATCH_SIZE="2", OTEL_BSP_MAX_QUEUE_SIZE="2") as gateway:
        gateway.receiver.statuses = [400, 400]
        gateway.ask("hi")
        gateway.served.find("traces cannot be sent to 127.0.0.1:\\d+: it answered 400", err=True)
        assert gateway.metric('moongate_spans_lost_total{reason="export"}') == 2
        gateway.receiver.statuses = []
        gateway.spans(gateway.ask("hi"))
        gateway.ask("fail")  # more spans than there is room for
        assert gateway.metric('moongate_spans_lost_total{reason="queue"}') >= 3
        assert gateway.served.err.count("traces cannot be sent") == 1


def test_an_export_is_tried_again_and_refused_spans_are_counted(tmp_path: Path) -> None:
    with traced(tmp_path) as gateway:
        gateway.receiver.statuses = [503]
        gateway.receiver.refuse = 1
        gateway.spans(gateway.ask("hi"))
        assert gateway.receiver.asked == 2
        gateway.served.find("has refused 1 of 2 spans: 'too old'", err=True)
        assert gateway.metric('moongate_spans_lost_total{reason="refused"}') == 1
        assert gateway.metric("moongate_spans_total") == 1


def test_what_waits_is_sent_before_the_end(tmp_path: Path) -> None:
    with traced(tmp_path, OTEL_BSP_SCHEDULE_DELAY="600000") as gateway:
        gateway.ask("hi")
        assert gateway.served.stop() == 0
        assert len(gateway.receiver.spans) == 2


def test_a_receiver_that_is_not_there_delays_nothing(tmp_path: Path) -> None:
    with traced(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9") as gateway:
        assert gateway.ask("hi").status == 200
        gateway.served.find("traces cannot be sent to 127.0.0.1:9: Connection refused", err=True)
        assert gateway.served.stop() == 0


def test_a_wrong_variable_ends_the_start_with_its_name(tmp_path: Path) -> None:
    with Background() as background:
        write(tmp_path, config(background.start(Scripted(play).start())))
        with serving(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://x", OTEL_EXPORTER_OTLP_PROTOCOL="grpc") as served:
            assert served.end() == 2
            assert "OTEL_EXPORTER_OTLP_PROTOCOL" in served.err


def test_a_receiver_may_have_its_own_authority_and_ask_for_a_certificate(tmp_path: Path) -> None:
    authority = CertificateAuthority.make(tmp_path)
    certificate, key = authority.sign("gateway")
    files = {"CERTIFICATE": authority.file, "CLIENT_CERTIFICATE": certificate, "CLIENT_KEY": key}
    variables = {f"OTEL_EXPORTER_OTLP_{name}": file for name, file in files.items()}
    with traced(tmp_path, tls=authority.server_context(asks_clients=True), **variables) as gateway:
        server, attempts = gateway.spans(gateway.ask("hi"))
        assert (server.kind, len(attempts)) == (SERVER, 1)
