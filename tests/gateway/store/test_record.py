"""Records of the journal."""

from __future__ import annotations

import mmap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moongate.gateway.store.record import (
    LABEL_FIELDS,
    MAX_NAME,
    SIZE,
    Numbers,
    UsageRow,
    label_of,
    names_in,
    read_record,
    write_record,
)

NUMBER = st.integers(-(1 << 63), (1 << 63) - 1)
SHORT = st.integers(-(1 << 15), (1 << 15) - 1)
NAME = st.text(max_size=20)


@given(
    row_id=st.integers(1, (1 << 63) - 1),
    names=st.tuples(NAME, NAME, NAME, NAME, NAME, NAME),
    request=st.binary(max_size=30).map(lambda data: bytes(each & 127 for each in data)),
    numbers=st.tuples(SHORT, SHORT, st.integers(0, 1 << 30), *[NUMBER] * 6, st.integers(0, 1), NUMBER, NUMBER),
)
def test_a_record_comes_back_as_it_was(
    row_id: int, names: tuple[str, str, str, str, str, str], request: bytes, numbers: Numbers
) -> None:
    place, label = mmap.mmap(-1, 4096), label_of(*names)
    write_record(place, 10, row_id, label, request, numbers)
    end = 10 + SIZE + len(label) + len(request)
    assert read_record(place, 10, end) == UsageRow(row_id, label, request.decode(), *numbers)
    assert read_record(place, 10, end - 1) is None
    assert read_record(place, 10, 20) is None


def test_labels_hold_names_of_bounded_length() -> None:
    label = label_of("key", "team\x00", "chat", "p" * 1000, 'a"b', "good")
    assert names_in(label) == ("key", "team", "chat", "p" * MAX_NAME, 'a"b', "good")


@pytest.mark.parametrize("damaged", [b"", b"[]", b"[1,2,3,4,5,6]", b"{}", b'["a"', b"\x00\x00"])
def test_a_damaged_label_has_no_names(damaged: bytes) -> None:
    assert names_in(damaged) == ("",) * len(LABEL_FIELDS)
