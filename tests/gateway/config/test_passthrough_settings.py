"""Paths that are passed through, in the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from moongate.errors import ConfigError
from moongate.gateway.config.load import Config, parse_config
from moongate.gateway.config.passthrough_settings import OWN_PATHS, is_plain
from moongate.gateway.http.front_paths import DIALECT_BY_PATH
from moongate.gateway.http.pages import PAGES
from moongate.payload import dumps_text


def load(*paths: Any) -> Config:
    provider = {"name": "p", "api_base_url": "http://127.0.0.1:9", "models": ["m"], "passthrough": list(paths)}
    return parse_config(dumps_text(provider), "c.json", Path(), {})


def test_nothing_is_open_by_default() -> None:
    assert load().sources[0].settings.passthrough == ()


def test_a_path_may_have_a_price() -> None:
    (found,) = load({"path": "/v1/embeddings", "price": {"input": 0.02}}).sources[0].settings.passthrough
    assert (found.path, found.price) == ("/v1/embeddings", {"input": 0.02})


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("v1/files", "expected a path such as /v1/embeddings"),
        ("/", "expected a path"),
        ("/v1/files/", "expected a path"),
        ("/v1/../x", "expected a path"),
        ("/v1/%66", "expected a path"),
        ("/v1/*", "expected a path"),
        ("/v1/chat/completions", "the gateway itself serves /v1/chat/completions"),
        ("/v1", "the gateway itself serves /v1/chat/completions"),
        ("/v1/messages", "the gateway itself serves /v1/messages"),
        ("/chat", "the gateway itself serves /chat/completions"),
        ("/v1/models", "the gateway itself serves /v1/models"),
        ("/metrics", "the gateway itself serves /metrics"),
        ({"path": "/v1/x", "price": {"inputt": 1}}, "price"),
    ],
)
def test_paths_that_cannot_be_opened(path: Any, error: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert error in str(caught.value)


def test_the_same_path_twice() -> None:
    with pytest.raises(ConfigError, match="the same path twice"):
        load("/v1/x", "/v1/x")


def test_every_path_of_the_gateway_is_known() -> None:
    assert {*PAGES, *DIALECT_BY_PATH} - {"/"} == OWN_PATHS


@pytest.mark.parametrize(
    ("path", "plain"),
    [
        ("/v1/files/file-1.x", True),
        ("/a/...", True),
        ("/a/.", False),
        ("/a/../b", False),
        ("/a//b", False),
        ("/a%", False),
    ],
)
def test_plain_paths(path: str, plain: bool) -> None:
    assert is_plain(path) is plain
