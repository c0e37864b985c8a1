"""Addresses, proxies and certificates of a provider in the configuration."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.certificates import CertificateAuthority

from moongate.errors import ConfigError
from moongate.gateway.config.load import Config, parse_config
from moongate.net.dial import Origin
from moongate.payload import dumps_text

PROVIDER: dict[str, Any] = {"name": "p", "api_base_url": "https://a.example", "models": ["m"]}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> CertificateAuthority:
    return CertificateAuthority.make(tmp_path_factory.mktemp("authority"))


def load(folder: Path = Path(), environment: dict[str, str] | None = None, **provider: Any) -> Config:
    return parse_config(dumps_text({**PROVIDER, **provider}), "c.json", folder, environment or {})


def origins(**given: Any) -> tuple[Origin, ...]:
    return load(**given).sources[0].origins


def refused(**given: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        load(**given)
    return str(caught.value)


def test_several_addresses_of_one_provider() -> None:
    found = load(api_base_url=["https://a.example/v1", "http://b.example:8000"]).sources[0]
    assert [each.authority for each in found.origins] == ["a.example:443", "b.example:8000"]
    assert [each.path for each in found.endpoints] == ["/v1/chat/completions"] * 2
    assert found.settings.base_url == "https://a.example/v1"


@pytest.mark.parametrize(
    ("urls", "error"),
    [
        ([], "api_base_url: expected text, or a list of them, found an empty list"),
        (["https://a", "https://b/other"], "api_base_url[1]: its path is '/other/v1/chat/completions', that of the"),
        (["https://a", "https://a/v1"], "api_base_url[1]: the same address twice"),
        (["https://a", "b"], "api_base_url[1]: expected a URL that begins with https://"),
    ],
)
def test_addresses_that_cannot_be_one_provider(urls: list[str], error: str) -> None:
    assert error in refused(api_base_url=urls)


def test_the_configuration_wins_over_the_environment() -> None:
    environment = {"HTTPS_PROXY": "http://environment:1"}
    assert origins(environment=environment)[0].proxy == "http://environment:1"
    assert origins(environment=environment, proxy="http://file:2")[0].proxy == "http://file:2"
    assert origins(environment=environment, proxy="none")[0].proxy is None
    assert "$HTTPS_PROXY: expected http://host:port" in refused(environment={"HTTPS_PROXY": "socks5://x"})


def test_the_password_of_a_proxy_is_a_secret() -> None:
    config = load(environment={"HTTPS_PROXY": "http://me:hunter%3A2@proxy:1"})
    assert {"hunter%3A2", "hunter:2"} <= config.secrets


def test_a_certificate_of_our_own(authority: CertificateAuthority) -> None:
    cert, key = authority.sign("client")
    found = origins(folder=authority.folder, cert_file="client.pem", key_file="client.key")[0].certificate
    assert found is not None
    assert (found.cert_file, found.key_file) == (cert, key)
    os.utime(cert, ns=(1, 1))
    renewed = origins(folder=authority.folder, cert_file="client.pem", key_file="client.key")[0].certificate
    assert renewed != found, "a reload takes a renewed certificate"
    both = authority.folder / "both.pem"
    both.write_text(Path(cert).read_text() + Path(key).read_text())
    assert origins(folder=authority.folder, cert_file="both.pem")[0].certificate is not None


def test_certificates_that_cannot_be_used(authority: CertificateAuthority) -> None:
    authority.sign("client")
    authority.sign("other")
    here = authority.folder
    command = ["openssl", "ec", "-aes128", "-passout", "pass:secret", "-in", "client.key", "-out", "locked.key"]
    subprocess.run(command, cwd=here, check=True, capture_output=True)
    assert "cert_file: cannot be used: No such file" in refused(folder=here, cert_file="gone.pem")
    assert "cert_file: cannot be used: the key belongs to another certificate" in refused(
        folder=here, cert_file="client.pem", key_file="other.key"
    )
    for key_file in ("locked.key", "client.pem", "client.csr"):
        assert "no PEM file with a certificate and its key" in refused(
            folder=here, cert_file="client.pem", key_file=key_file
        )
    assert "key_file: a key without its certificate" in refused(folder=here, key_file="client.key")
    assert "only an https:// address asks for a certificate" in refused(
        folder=here, api_base_url="http://127.0.0.1:1", cert_file="client.pem", key_file="client.key"
    )


def test_the_dialect_of_a_provider() -> None:
    source = load(dialect="anthropic", api_base_url="https://api.moonshot.ai/anthropic").sources[0]
    assert source.endpoint.url == "https://api.moonshot.ai/anthropic/v1/messages"
    assert load(dialect="responses").sources[0].endpoint.path == "/v1/responses"
    assert load(dialect="responses", transformer={"use": ["Kimi"]}).sources
    error = refused(dialect="anthropic", transformer={"use": ["Kimi", "maxtoken"]})
    assert "use[1]: maxtoken works on chat completions, but the provider's dialect is 'anthropic'" in error
    assert "unknown value 'claude'" in refused(dialect="claude")
