"""The `OTEL_*` variables: what each does, and what is wrong with wrong ones."""

from __future__ import annotations

import pytest

from moongate.errors import ConfigError
from moongate.gateway.trace.attribute_names import NEWEST, WIDELY_READ
from moongate.gateway.trace.otel_environment import TraceSettings, trace_settings

URL = "http://collector:4318"


def read(**variables: str) -> TraceSettings:
    found = trace_settings({"OTEL_EXPORTER_OTLP_ENDPOINT": URL, **variables})
    assert found is not None
    return found


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_SERVICE_NAME": "x"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": " "},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": URL, "OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": URL, "OTEL_SDK_DISABLED": "TRUE"},
    ],
)
def test_nothing_is_traced_unless_asked_for(environ: dict[str, str]) -> None:
    assert trace_settings(environ) is None


def test_endpoints() -> None:
    assert read().url == "http://collector:4318/v1/traces"
    assert read(OTEL_EXPORTER_OTLP_ENDPOINT="https://x/api/otel/").url == "https://x/api/otel/v1/traces"
    assert read(OTEL_EXPORTER_OTLP_ENDPOINT="https://x/otel/?key=1").url == "https://x/otel/v1/traces?key=1"
    assert read(OTEL_EXPORTER_OTLP_ENDPOINT="http://[::1]:4318").url == "http://[::1]:4318/v1/traces"
    assert read(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="http://x:1/other").url == "http://x:1/other"
    by_name = trace_settings({"OTEL_TRACES_EXPORTER": "otlp"})
    assert by_name is not None
    assert by_name.url == "http://localhost:4318/v1/traces"


def test_defaults_are_those_of_the_specification() -> None:
    found = read()
    assert (found.timeout, found.delay, found.queue, found.batch, found.events) == (10.0, 5.0, 2048, 512, 128)
    assert (found.ratio, found.obeys_parent, found.with_content, found.is_gzipped) == (1.0, True, False, False)
    assert found.resource == {"service.name": "moongate"}
    assert found.names is WIDELY_READ


def test_the_rest_is_read() -> None:
    found = read(
        OTEL_EXPORTER_OTLP_HEADERS="a=1, Authorization=Basic%20eDp5",
        OTEL_EXPORTER_OTLP_TRACES_COMPRESSION="gzip",
        OTEL_EXPORTER_OTLP_CERTIFICATE="/ca.pem",
        OTEL_EXPORTER_OTLP_TIMEOUT="500",
        OTEL_BSP_SCHEDULE_DELAY="100",
        OTEL_BSP_MAX_QUEUE_SIZE="10",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE="20",
        OTEL_RESOURCE_ATTRIBUTES="service.name=other,deployment.environment=test",
        OTEL_SERVICE_NAME="mine",
        OTEL_SEMCONV_STABILITY_OPT_IN="http, gen_ai_latest_experimental",
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="True",
        OTEL_TRACES_SAMPLER="traceidratio",
        OTEL_TRACES_SAMPLER_ARG="0.25",
    )
    assert found.headers == {"a": "1", "Authorization": "Basic eDp5"}
    assert (found.ca_file, found.is_gzipped, found.timeout, found.delay) == ("/ca.pem", True, 0.5, 0.1)
    assert (found.queue, found.batch) == (20, 20)
    assert found.resource == {"service.name": "mine", "deployment.environment": "test"}
    assert found.names is NEWEST
    assert (found.with_content, found.ratio, found.obeys_parent) == (True, 0.25, False)
    assert "eDp5" not in repr(found)


def test_words_are_read_in_any_case() -> None:
    found = read(
        OTEL_TRACES_EXPORTER="OTLP",
        OTEL_EXPORTER_OTLP_PROTOCOL="HTTP/protobuf",
        OTEL_EXPORTER_OTLP_COMPRESSION="GZIP",
        OTEL_TRACES_SAMPLER="Always_On",
    )
    assert (found.is_gzipped, found.obeys_parent) == (True, False)


def test_samplers() -> None:
    assert read(OTEL_TRACES_SAMPLER="parentbased_always_off").ratio == 0.0
    assert read(OTEL_TRACES_SAMPLER="always_on").obeys_parent is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OTEL_TRACES_EXPORTER", "zipkin"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:secret@collector"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:99999"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector/a b"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "secret"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=b%0d%0ac: d"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a b=c"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=%E2%82%AC"),
        ("OTEL_RESOURCE_ATTRIBUTES", "=x"),
        ("OTEL_BSP_SCHEDULE_DELAY", "soon"),
        ("OTEL_BSP_SCHEDULE_DELAY", "0"),
        ("OTEL_BSP_SCHEDULE_DELAY", "9" * 20),
        ("OTEL_TRACES_SAMPLER", "jaeger_remote"),
    ],
)
def test_a_wrong_value_is_told_with_its_variable(name: str, value: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read(**{name: value})
    assert raised.value.path == name
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("ratio", ["2", "-1", "half", "nan"])
def test_a_wrong_ratio_is_told(ratio: str) -> None:
    with pytest.raises(ConfigError, match="OTEL_TRACES_SAMPLER_ARG"):
        read(OTEL_TRACES_SAMPLER="parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG=ratio)
