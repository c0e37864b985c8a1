"""Property tests of `ids`; `test_ids` has the examples."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kimi.test_ids import claims
from tests.support.length import examples

from moongate.kimi.family import IdRule

CALLS = st.lists(
    st.tuples(
        st.one_of(
            st.none(),
            st.text(max_size=5),
            st.builds("functions.{}:{}".format, st.sampled_from("ab"), st.integers(0, 9)),
        ),
        st.sampled_from("ab"),
    ),
    max_size=20,
)


@settings(max_examples=examples(500), deadline=None, derandomize=True)
@given(calls=CALLS, rule=st.sampled_from(IdRule), cut=st.integers(0, 20))
def test_ids_are_unique_stable_and_settled(calls: list[tuple[str | None, str]], rule: IdRule, cut: int) -> None:
    final = claims(*calls, rule=rule)
    assert len(set(final)) == len(final)
    assert claims(*calls[:cut], rule=rule) == final[:cut]
    names = [name for _, name in calls]
    assert claims(*zip(final, names, strict=True), rule=rule) == final
