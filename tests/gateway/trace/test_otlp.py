"""What the encoder writes, opentelemetry-proto reads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from tests.gateway.trace.receiver import attributes

from moongate.gateway.trace.otlp import export_request, refused_spans
from moongate.gateway.trace.span import CLIENT, SERVER, Span, SpanEvent

VALUES = st.one_of(
    st.text(),
    st.booleans(),
    st.integers(-(1 << 63), (1 << 63) - 1),
    st.floats(allow_nan=False),
    st.lists(st.text(), max_size=3),
)


def decoded(data: bytes) -> ExportTraceServiceRequest:
    found = ExportTraceServiceRequest()
    found.ParseFromString(data)
    return found


def test_every_field_of_a_span_arrives() -> None:
    event = SpanEvent("moongate.repair", 12, {"kind": "id"})
    span = Span(b"t" * 16, b"s" * 8, b"p" * 8, "a=1", "chat m", CLIENT, 10, 20, {"n": 1}, [event], 3, "it broke")
    data = export_request([span], {"service.name": "moongate"}, "moongate", "1.2")
    resource = decoded(data).resource_spans[0]
    assert attributes(resource.resource.attributes) == {"service.name": "moongate"}
    scope = resource.scope_spans[0]
    assert (scope.scope.name, scope.scope.version) == ("moongate", "1.2")
    found = scope.spans[0]
    assert (found.trace_id, found.span_id, found.parent_span_id) == (b"t" * 16, b"s" * 8, b"p" * 8)
    assert (found.trace_state, found.name, found.kind) == ("a=1", "chat m", 3)
    assert (found.start_time_unix_nano, found.end_time_unix_nano) == (10, 20)
    assert attributes(found.attributes) == {"n": 1}
    assert [(each.name, each.time_unix_nano, attributes(each.attributes)) for each in found.events] == [
        ("moongate.repair", 12, {"kind": "id"})
    ]
    assert (found.dropped_events_count, found.status.code, found.status.message) == (3, 2, "it broke")


def test_what_is_absent_is_not_written() -> None:
    span = Span(b"t" * 16, b"s" * 8, b"", "", "POST /v1/messages", SERVER, 1 << 60, 1 << 61)
    found = decoded(export_request([span], {}, "s", "")).resource_spans[0].scope_spans[0].spans[0]
    assert (found.parent_span_id, found.status.code, found.HasField("status")) == (b"", 0, False)
    assert found.end_time_unix_nano == 1 << 61


@given(st.dictionaries(st.text(), VALUES, max_size=8))
def test_any_attributes_arrive(given_attributes: dict[str, str | bool | int | float | list[str]]) -> None:
    span = Span(b"t" * 16, b"s" * 8, b"", "", "n", SERVER, 1, 2, given_attributes)
    found = decoded(export_request([span], {}, "s", "v")).resource_spans[0].scope_spans[0].spans[0]
    assert attributes(found.attributes) == given_attributes


def test_lone_surrogates_do_not_stop_an_export() -> None:
    span = Span(b"t" * 16, b"s" * 8, b"", "", "\ud800", SERVER, 1, 2)
    assert decoded(export_request([span], {}, "s", "v")).resource_spans[0].scope_spans[0].spans[0].name == "?"


def test_refused_spans_are_read() -> None:
    answer = ExportTraceServiceResponse()
    assert refused_spans(answer.SerializeToString()) == (0, "")
    answer.partial_success.rejected_spans = 300
    answer.partial_success.error_message = "too old"
    assert refused_spans(answer.SerializeToString()) == (300, "too old")


@given(st.binary(max_size=200))
def test_any_answer_is_survived(answer: bytes) -> None:
    refused, why = refused_spans(answer)
    assert refused >= 0
    assert len(why) <= 200
