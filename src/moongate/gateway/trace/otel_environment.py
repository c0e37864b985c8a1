"""Where traces go, and how: the standard `OTEL_*` environment.

Traces are sent if an endpoint is set, or `OTEL_TRACES_EXPORTER=otlp`; without both nothing is collected.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from moongate.errors import ConfigError
from moongate.gateway.trace.attribute_names import NEWEST, OPT_IN, WIDELY_READ
from moongate.gateway.trace.span import Attributes

EXPORTER: Final = "OTEL_TRACES_EXPORTER"
ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACES_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
DEFAULT_ENDPOINT: Final = "http://localhost:4318"
PATH: Final = "/v1/traces"
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
SAMPLERS: Final = ("always_on", "always_off", "traceidratio")


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Seconds and numbers as the specification of OpenTelemetry has them, which counts in milliseconds."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)  # keys, mostly
    ca_file: str = ""
    client_certificate: tuple[str, str] | None = None  # the file of a certificate and of its key
    is_gzipped: bool = False
    timeout: float = 10.0  # of one export
    delay: float = 5.0  # between exports
    queue: int = 2048  # spans that wait; further ones are lost
    batch: int = 512  # spans of one export
    events: int = 128  # of one span
    resource: Attributes = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=lambda: WIDELY_READ)
    with_content: bool = False  # prompts and answers
    ratio: float = 1.0  # of traces that begin here
    obeys_parent: bool = True  # a client that does not sample its trace gets no spans


def trace_settings(environ: Mapping[str, str]) -> TraceSettings | None:
    """None: traces are off. Raises ConfigError."""
    found = {name: value.strip() for name, value in environ.items() if name.startswith("OTEL_") and value.strip()}
    exporter = found.get(EXPORTER, "otlp" if ENDPOINT in found or TRACES_ENDPOINT in found else "none").lower()
    if exporter == "none" or found.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    if exporter != "otlp":
        raise ConfigError(f"expected 'otlp' or 'none', found {exporter!r}", path=EXPORTER)
    protocol = _signal(found, "PROTOCOL", "http/protobuf").lower()
    if protocol != "http/protobuf":
        raise ConfigError(f"only 'http/protobuf' is spoken, found {protocol!r}", path="OTEL_EXPORTER_OTLP_PROTOCOL")
    compression = _signal(found, "COMPRESSION", "none").lower()
    if compression not in ("none", "gzip"):
        raise ConfigError(f"expected 'gzip' or 'none', found {compression!r}", path="OTEL_EXPORTER_OTLP_COMPRESSION")
    batch = _whole(found, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 512)
    ratio, obeys_parent = _sampler(found)
    opted = found.get("OTEL_SEMCONV_STABILITY_OPT_IN", "").split(",")
    return TraceSettings(
        url=_url(found),
        headers=_pairs(_signal(found, "HEADERS", ""), "OTEL_EXPORTER_OTLP_HEADERS"),
        ca_file=_signal(found, "CERTIFICATE", ""),
        client_certificate=_client_certificate(found),
        is_gzipped=compression == "gzip",
        timeout=_whole(found, "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", _whole(found, "OTEL_EXPORTER_OTLP_TIMEOUT", 10_000))
        / 1000,
        delay=_whole(found, "OTEL_BSP_SCHEDULE_DELAY", 5000) / 1000,
        queue=max(batch, _whole(found, "OTEL_BSP_MAX_QUEUE_SIZE", 2048)),
        batch=batch,
        events=_whole(found, "OTEL_SPAN_EVENT_COUNT_LIMIT", 128),
        resource={
            "service.name": "moongate",
            **_pairs(found.get("OTEL_RESOURCE_ATTRIBUTES", ""), "OTEL_RESOURCE_ATTRIBUTES"),
            **({"service.name": found["OTEL_SERVICE_NAME"]} if "OTEL_SERVICE_NAME" in found else {}),
        },
        names=NEWEST if OPT_IN in map(str.strip, opted) else WIDELY_READ,
        with_content=found.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").lower() == "true",
        ratio=ratio,
        obeys_parent=obeys_parent,
    )


def _signal(found: Mapping[str, str], name: str, default: str) -> str:
    """A variable for traces alone wins over that for all signals."""
    return found.get(f"OTEL_EXPORTER_OTLP_TRACES_{name}", found.get(f"OTEL_EXPORTER_OTLP_{name}", default))


def _url(found: Mapping[str, str]) -> str:
    """The endpoint for traces as it is; that for all signals with the path of traces."""
    name = TRACES_ENDPOINT if TRACES_ENDPOINT in found else ENDPOINT
    url = found.get(name, DEFAULT_ENDPOINT)
    if name == ENDPOINT:
        base, mark, query = url.partition("?")
        url = f"{base.rstrip('/')}{PATH}{mark}{query}"
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or parts.username is not None or not url.isascii() or not url.isprintable() or " " in url:
        raise ConfigError("expected http://HOST[:PORT] or https://HOST[:PORT], without user and password", path=name)
    return url


def _pairs(text: str, name: str) -> dict[str, str]:
    """`a=b,c=d`, of which values may be percent-encoded."""
    pairs = [each.partition("=") for each in text.split(",") if each.strip()]
    if not all(key.strip() and equals for key, equals, _ in pairs):
        raise ConfigError("expected NAME=VALUE,NAME=VALUE", path=name)
    values = {key.strip(): unquote(value.strip()) for key, _, value in pairs}
    if name.endswith("HEADERS") and not all(map(_is_header, values, values.values())):
        raise ConfigError("a header's name has letters, digits and '-', its value ASCII without controls", path=name)
    return values


def _client_certificate(found: Mapping[str, str]) -> tuple[str, str] | None:
    """The key may be in the certificate's file."""
    certificate = _signal(found, "CLIENT_CERTIFICATE", "")
    return (certificate, _signal(found, "CLIENT_KEY", certificate)) if certificate else None


def _is_header(key: str, value: str) -> bool:
    return _HEADER_NAME.fullmatch(key) is not None and value.isascii() and value.isprintable()


def _whole(found: Mapping[str, str], name: str, default: int) -> int:
    text = found.get(name, str(default))
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= 10_000_000 and len(text) <= 9):
        raise ConfigError("expected a whole number, 1 … 10000000", path=name)
    return int(text)


def _sampler(found: Mapping[str, str]) -> tuple[float, bool]:
    """The share of traces, and whether a parent decides instead."""
    name = found.get("OTEL_TRACES_SAMPLER", "parentbased_always_on").lower()
    plain = name.removeprefix("parentbased_")
    if plain not in SAMPLERS:
        raise ConfigError(f"expected [parentbased_]{' or '.join(SAMPLERS)}, found {name!r}", path="OTEL_TRACES_SAMPLER")
    ratio = {"always_on": 1.0, "always_off": 0.0}.get(plain)
    if ratio is None:
        text = found.get("OTEL_TRACES_SAMPLER_ARG", "1")
        try:
            ratio = float(text)
        except ValueError:
            ratio = -1.0
        if not 0 <= ratio <= 1:
            raise ConfigError(f"expected 0 … 1, found {text!r}", path="OTEL_TRACES_SAMPLER_ARG")
    return ratio, plain != name
