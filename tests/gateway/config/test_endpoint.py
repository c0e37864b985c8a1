from __future__ import annotations

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.endpoint import forbidden_address, resolve_endpoint
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.places import ConfigPlace

AT = ConfigPlace(ConfigDocument("f", None, {}), "api_base_url")


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://openrouter.ai/api", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://api.siliconflow.cn/v1", "https://api.siliconflow.cn/v1/chat/completions"),
        ("https://api.siliconflow.cn/v1/", "https://api.siliconflow.cn/v1/chat/completions"),
        ("https://api.moonshot.cn", "https://api.moonshot.cn/v1/chat/completions"),
        ("https://api.moonshot.cn/", "https://api.moonshot.cn/v1/chat/completions"),
        ("https://x/v1/chat/completions", "https://x/v1/chat/completions"),
        ("https://x/v1/chat/completions/", "https://x/v1/chat/completions"),
        ("https://x/special/chat/completions", "https://x/special/chat/completions"),
        ("https://x/v1beta/openai", "https://x/v1beta/openai/chat/completions"),
        ("https://x/api/paas/v4", "https://x/api/paas/v4/chat/completions"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions"),
        ("https://x:443", "https://x/v1/chat/completions"),
        ("https://x/openai/v1?api-version=2", "https://x/openai/v1/chat/completions?api-version=2"),
    ],
)
def test_all_forms_of_a_base_are_resolved(base: str, url: str) -> None:
    assert resolve_endpoint(base, AT).url == url


def test_an_address_of_chat_completions_is_not_one_of_another_dialect() -> None:
    assert resolve_endpoint("https://x/v1/messages", AT, "anthropic").url == "https://x/v1/messages"
    with pytest.raises(ConfigError, match="the address of the dialect 'chat'"):
        resolve_endpoint("https://x/v1/chat/completions", AT, "anthropic")


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("api.moonshot.cn", "expected a URL that begins with https:// or http://, found 'api.moonshot.cn'"),
        ("ftp://x", "expected a URL that begins with https:// or http://"),
        ("https://user:secret@x", "the key belongs in 'api_key'"),
        ("https://", "the URL names no host"),
        ("https://x/#y", "has no fragment"),
        ("https://x:99999", "not a URL"),
        ("https://[::1", "not a URL"),
        ("https://x/a b", "no blanks"),
        ("https://x\r\nHost: y", "no blanks"),
        ("https://x/anthropic/v1/messages", "/messages is the address of the dialect 'anthropic'"),
        ("https://x/v1/responses/", "/responses is the address of the dialect 'responses'"),
        ("http://169.254.169.254/latest", "never contacted"),
        ("http://metadata.google.internal", "never contacted"),
    ],
)
def test_bad_base_urls_are_refused(base: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        resolve_endpoint(base, AT)
    assert message in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254",
        "169.254.0.1",
        "0xa9fea9fe",
        "2852039166",
        "fe80::1",
        "fe80::1%eth0",
        "::ffff:169.254.169.254",
        "fd00:ec2::254",
        "METADATA.google.internal.",
        "100.100.100.200",
    ],
)
def test_link_local_and_metadata_addresses_are_forbidden(host: str) -> None:
    assert forbidden_address(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "192.168.1.1", "::1", "api.moonshot.ai", "8.8.8.8"])
def test_other_addresses_are_not(host: str) -> None:
    assert not forbidden_address(host)
