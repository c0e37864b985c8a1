"""Spans → the bytes of an `ExportTraceServiceRequest`, in protobuf; and how many of them the answer says were refused.

Protobuf is a list of fields: a number and a type, then a value. Only what a span needs is written here; the numbers are
those of opentelemetry-proto (`trace.proto`, `common.proto`), which a test decodes it with.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from moongate.gateway.trace.span import Attributes, AttributeValue, Span, SpanEvent

VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
STATUS_ERROR: Final = 2


def export_request(spans: Iterable[Span], resource: Attributes, scope: str, version: str) -> bytes:
    about = _message(1, _text(1, scope) + _text(2, version))
    scope_spans = _message(2, about + b"".join([_message(2, _span(span)) for span in spans]))
    return _message(1, _message(1, _attributes(1, resource)) + scope_spans)


def refused_spans(answer: bytes) -> tuple[int, str]:
    """How many spans the receiver has not taken, and why: `partial_success` of an `ExportTraceServiceResponse`."""
    refused, why = 0, ""
    for number, value in _fields(answer):
        for inner, found in _fields(value) if number == 1 and isinstance(value, bytes) else ():
            if inner == 1 and isinstance(found, int):
                refused = found
            elif inner == 2 and isinstance(found, bytes):
                why = found.decode("utf-8", "replace")
    return refused, why


def _span(span: Span) -> bytes:
    out = _message(1, span.trace_id) + _message(2, span.span_id)
    if span.trace_state:
        out += _text(3, span.trace_state)
    if span.parent_id:
        out += _message(4, span.parent_id)
    out += _text(5, span.name) + _number(6, span.kind) + _time(7, span.start) + _time(8, span.end)
    out += _attributes(9, span.attributes) + b"".join([_message(11, _event(event)) for event in span.events])
    if span.lost_events:
        out += _number(12, span.lost_events)
    return out if span.error is None else out + _message(15, _text(2, span.error) + _number(3, STATUS_ERROR))


def _event(event: SpanEvent) -> bytes:
    return _time(1, event.at) + _text(2, event.name) + _attributes(3, event.attributes)


def _attributes(number: int, attributes: Mapping[str, AttributeValue]) -> bytes:
    return b"".join(
        [_message(number, _text(1, name) + _message(2, _value(value))) for name, value in attributes.items()]
    )


def _value(value: AttributeValue) -> bytes:
    if isinstance(value, str):
        return _text(1, value)
    if isinstance(value, bool):
        return _number(2, value)
    if isinstance(value, int):
        return _number(3, value & (1 << 64) - 1)
    if isinstance(value, float):
        return _tag(4, FIXED64) + struct.pack("<d", value)
    return _message(5, b"".join([_message(1, _text(1, each)) for each in value]))


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode("utf-8", "replace"))


def _message(number: int, data: bytes) -> bytes:
    return _tag(number, LENGTH) + _varint(len(data)) + data


def _number(number: int, value: int) -> bytes:
    return _tag(number, VARINT) + _varint(value)


def _time(number: int, nanoseconds: int) -> bytes:
    return _tag(number, FIXED64) + struct.pack("<Q", nanoseconds)


def _tag(number: int, kind: int) -> bytes:
    return _varint(number << 3 | kind)


def _varint(value: int) -> bytes:
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message that hold numbers or bytes. It ends where the data makes no sense."""
    at = 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        value, at = _read_varint(data, at)
        if tag & 7 == VARINT:
            yield tag >> 3, value
        elif tag & 7 == LENGTH:
            yield tag >> 3, data[at : at + value]
            at += value
        else:
            return


def _read_varint(data: Sequence[int], at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    return value, at
