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
        ("a<!-- b > c <i>d</i> -->e<!--[if IE]>f<![endif]-->g", "aeg"),
        ("<!-- never closed", "<!-- never closed"),
        ("<a title=\"b>c\" href=d>e</a><i class='f>'>g</i>", "e g"),
        ("<b>it's <i>1</i></b> > 0", "it's 1 > 0"),
        ("<template>a</template>b", "b"),
        ("1 < 2 and <b>3</b>", "1 < 2 and 3"),
        ("<" * 5, "<<<<<"),
    ],
)
def test_the_visible_text_of_a_page(page: str, text: str) -> None:
    assert page_text(page) == text


@given(st.lists(st.sampled_from(["<", ">", "/", "script", "<head>", "</head>", "<b>", " ", "x"])).map("".join))
def test_nothing_is_invented(page: str) -> None:
    assert len(page_text(page)) <= len(page)
