"""Property tests of `ids`; `test_ids` has the examples."""

from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.dialects.anthropic_messages.ids import client_call_id, provider_call_id

ALPHABET = "axc3-_.:09é"


@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(st.text(ALPHABET, min_size=1, max_size=80), st.text(ALPHABET, min_size=1, max_size=80))
@example("functions.a:1", "functions--a--1")
@example("a-.-b:1", "a.--b:1")
def test_client_ids_are_safe_and_unique(one: str, other: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", client_call_id(one), re.ASCII)
    assert (client_call_id(one) == client_call_id(other)) is (one == other)
    assert provider_call_id(client_call_id(one)) in (one, client_call_id(one))
