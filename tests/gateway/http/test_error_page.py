from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moongate.gateway.http.error_page import page_text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("", ""),
        ("plain  text\n", "plain text"),
        ("<h1>Bad</h1><p>gateway</p>", "Bad gateway"),
        ("<HEAD><title>x</title></Head><b>shown</b>", "shown"),
        ("a<script>if (a<b) { c>d }</script >b", "a b"),
        ("<style>p {}</style><script>x</script>seen", "seen"),
        ("<script>never closed", "never closed"),
        ("</script>only an end", "only an end"),
        ("<script>one</style>two</script>three", "three"),
        ("<header>kept</header>", "kept"),
        ("1 < 2 and <b>3</b>", "1 < 2 and 3"),
        ("<" * 5, "<<<<<"),
    ],
)
def test_the_visible_text_of_a_page(page: str, text: str) -> None:
    assert page_text(page) == text


@given(st.lists(st.sampled_from(["<", ">", "/", "script", "<head>", "</head>", "<b>", " ", "x"])).map("".join))
def test_nothing_is_invented(page: str) -> None:
    assert len(page_text(page)) <= len(page)
