from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.support.certificates import CertificateAuthority

from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.trace.otel_environment import TraceSettings
from moongate.gateway.trace.span_exporter import SpanExporter


def test_a_key_with_a_password_is_an_error_and_no_question(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    certificate, key = CertificateAuthority.make(tmp_path).sign("gateway")
    locked = str(tmp_path / "locked.key")
    encrypt = ["openssl", "ec", "-in", key, "-out", locked, "-aes256", "-passout", "pass:secret"]
    subprocess.run(encrypt, check=True, capture_output=True)
    settings = TraceSettings("https://localhost:1/v1/traces", client_certificate=(certificate, locked))
    status, _, _, problem = SpanExporter(settings, "1", Metrics(SharedCounters()), print)._post(b"")
    assert (status, "SSL" in problem) == (0, True)
    assert "pass phrase" not in "".join(capfd.readouterr())
