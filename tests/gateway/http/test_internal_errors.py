from __future__ import annotations

import pytest

from moongate.gateway.http.internal_errors import MAX_TEXT, describe, kind_and_place, place_of
from moongate.gateway.http.redaction import Redactor

SECRET = "sk-a-secret-of-somebody"
redact = Redactor([SECRET]).redact


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:
        return caught


class Broken(Exception):
    def __str__(self) -> str:
        raise RuntimeError(SECRET)


def test_kind_place_and_text() -> None:
    error = raised(ValueError("no such thing"))
    assert describe(error, redact) == f"ValueError at {place_of(error)}: no such thing"
    assert place_of(error).startswith(f"{__file__}:")


def test_it_needs_neither_a_text_nor_a_trace() -> None:
    assert describe(ValueError(), redact) == kind_and_place(ValueError("text")) == "ValueError at ?"


@pytest.mark.parametrize(
    "text", [SECRET, f"a\n{SECRET}\nb", f"{'x ' * MAX_TEXT}{SECRET}", f"{'x' * (MAX_TEXT - 5)}{SECRET}"]
)
def test_no_secret_is_shown_nor_a_part_of_it(text: str) -> None:
    shown = describe(raised(ValueError(text)), redact)
    assert SECRET[:5] not in shown
    assert "\n" not in shown


def test_what_a_terminal_would_obey_is_escaped() -> None:
    assert describe(ValueError("\x1b[2J\x9b1"), redact) == "ValueError at ?: \\x1b[2J\\x9b1"


def test_an_exception_whose_text_cannot_be_read() -> None:
    error = raised(Broken())
    assert describe(error, redact) == f"Broken at {place_of(error)}"
