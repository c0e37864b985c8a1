from __future__ import annotations

import pytest

from moongate.dialects.fronts import CHAT, FRONTS, MESSAGES, RESPONSES
from moongate.gateway.http.front_paths import DIALECT_BY_PATH, front_of
from moongate.gateway.http.pages import COSTLY_PAGES, PAGES


def test_a_front_is_served_with_and_without_v1() -> None:
    for row in FRONTS:
        assert DIALECT_BY_PATH[row.path] is DIALECT_BY_PATH[row.path.removeprefix("/v1")] is row.dialect


@pytest.mark.parametrize(
    ("path", "headers", "dialect"),
    [
        ("/v1/models", {}, CHAT),
        ("/v1/nothing", {}, CHAT),
        ("/v1/models", {b"anthropic-version": b"2023-06-01"}, MESSAGES),
        ("/v1/messages/batches", {}, MESSAGES),
        ("/v1/responses/resp_1", {}, RESPONSES),
        ("/v1/responses/resp_1", {b"anthropic-version": b""}, MESSAGES),
    ],
)
def test_pages_and_errors_take_the_form_of_the_client(path: str, headers: dict[bytes, bytes], dialect: object) -> None:
    assert front_of(path, headers).dialect is dialect


def test_the_pages_of_every_front_are_served_and_limited() -> None:
    own = {path for front in FRONTS for path in front.pages}
    assert own == {"/v1/messages/count_tokens"}
    assert own <= PAGES.keys()
    assert own == COSTLY_PAGES
