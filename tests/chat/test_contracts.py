"""The contracts between the parts."""

from __future__ import annotations

import pytest

from moongate.chat.contracts import Note


@pytest.mark.parametrize("where", ["choices[0].message.tool_calls[1].id", "choices", "usage.prompt_tokens_details"])
def test_a_note_about_an_answer_mends_the_vendor(where: str) -> None:
    assert Note("id", where).mends == "vendor"


@pytest.mark.parametrize("where", ["messages[0]", "tools[1].function.parameters", "thinking", "tool_choice"])
def test_a_note_about_a_request_mends_the_client(where: str) -> None:
    assert Note("parameter", where).mends == "client"
