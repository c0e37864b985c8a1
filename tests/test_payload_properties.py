"""Property tests of `payload`; `test_payload` has the examples."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.payload import dumps, loads

# Integers of more than 64 bits are read as the nearest double, as JavaScript's readers do.
integers = st.integers(-(2**63), 2**64 - 1)
values = st.recursive(
    st.none() | st.booleans() | integers | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=examples(200), deadline=None, derandomize=True)
@given(value=values)
def test_what_is_written_is_read_back(value: object) -> None:
    assert loads(dumps(value)) == value


@given(value=st.integers(2**64, 2**200) | st.integers(-(2**200), -(2**63) - 1))
def test_an_integer_beyond_64_bits_is_read_as_the_nearest_double(value: int) -> None:
    assert loads(dumps(value)) == float(value)
