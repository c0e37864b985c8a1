from __future__ import annotations

import base64
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moongate.gateway.redaction import MASK, Redactor

SECRET = "sk-can/ary+secret=42"
REDACTOR = Redactor([SECRET, "sk-can", "short"])


@pytest.mark.parametrize(
    "text",
    [
        SECRET,
        f"Incorrect API key provided: {SECRET}.",
        f"https://x/?key={quote(SECRET, safe='')}&b=1",
        f"https://x/?key={quote(SECRET, safe='').lower()}",
        "".join(f"%{byte:02X}" for byte in SECRET.encode()),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(f"user:{SECRET}".encode()).decode(),
        base64.b64encode(f"xx{SECRET}yy".encode()).decode(),
    ],
)
def test_a_secret_is_taken_out_in_every_form(text: str) -> None:
    cleaned = REDACTOR.clean(text)
    assert MASK in cleaned
    assert SECRET[6:] not in cleaned


def test_other_text_stays_the_same_object() -> None:
    text = "nothing to hide, short as it is"
    assert REDACTOR.clean(text) is text
    assert Redactor([]).clean(text) is text


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=9), st.binary(max_size=9), st.text("abcXYZ019-_+/", min_size=8, max_size=24))
def test_base64_around_a_secret_never_gives_it_away(before: bytes, after: bytes, secret: str) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        text = encode(before + secret.encode() + after).decode()
        assert MASK in Redactor([secret]).clean(text)


def test_a_secret_with_escaped_slashes_is_taken_out() -> None:
    assert Redactor(["abc/def/ghi"]).clean(r'"abc\/def\/ghi"') == f'"{MASK}"'
