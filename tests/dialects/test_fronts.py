"""Each path has its front."""

from __future__ import annotations

from moongate.dialects.fronts import CHAT, DIALECTS, FRONTS, MESSAGES, RESPONSES


def test_each_path_has_its_dialect() -> None:
    assert DIALECTS == {"/v1/chat/completions": CHAT, "/v1/messages": MESSAGES, "/v1/responses": RESPONSES}
    assert [dialect.name for dialect in DIALECTS.values()] == ["chat", "messages", "responses"]


def test_paths_names_and_client_headers_are_unique() -> None:
    for values in (
        [front.path for front in FRONTS],
        [front.dialect.name for front in FRONTS],
        [front.client_header for front in FRONTS if front.client_header],
    ):
        assert len(set(values)) == len(values)
    assert {front.path: front.dialect for front in FRONTS} == DIALECTS


def test_each_front_lists_models_in_its_own_form() -> None:
    models = [("kimi-k2", "moonshot"), ("p,kimi-k3", "p")]
    chat, messages, responses = (front.models(models) for front in FRONTS)
    assert chat == responses
    assert [entry["owned_by"] for entry in chat["data"]] == ["moonshot", "p"]
    assert messages == MESSAGES.models(["kimi-k2", "p,kimi-k3"])


def test_only_chat_passes_bytes_through() -> None:
    assert [front.dialect.passes_bytes_through for front in FRONTS] == [True, False, False]
