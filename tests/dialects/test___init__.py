"""`moongate.dialects` exports the fronts."""

from __future__ import annotations

from moongate.dialects import CHAT, DIALECTS, MESSAGES, RESPONSES


def test_each_path_has_its_dialect() -> None:
    assert DIALECTS == {"/v1/chat/completions": CHAT, "/v1/messages": MESSAGES, "/v1/responses": RESPONSES}
    assert [dialect.name for dialect in DIALECTS.values()] == ["chat", "messages", "responses"]
