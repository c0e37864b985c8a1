from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moongate.kimi.family import Family
from moongate.kimi.ids import Ledger, plain_tool_name
from moongate.kimi.options import KimiOptions

DEFAULT = KimiOptions()
REQUEST_SCOPE = KimiOptions(counter_scope="request")


def claims(*calls: tuple[str | None, str], options: KimiOptions = DEFAULT, family: Family = "k2") -> list[str]:
    ledger = Ledger(options, family)
    return [ledger.claim(given or "", name) for given, name in calls]


def test_good_ids_are_kept() -> None:
    assert claims(("functions.a:0", "a"), ("functions.b:1", "b")) == ["functions.a:0", "functions.b:1"]


@pytest.mark.parametrize("good", ["functions.a:7", "functions.a:007", "functions.a:999999999"])
def test_an_index_is_one_to_nine_digits(good: str) -> None:
    assert claims((good, "a")) == [good]


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "",
        "call_1",
        "toolu_01",
        "functions_a_0",
        "functionsa0",
        "functions.a:",
        "functions.a:-1",
        "functions.a:1x",
        "functions.a:1\n",
        " functions.a:1",
        "functions.a:1234567890",
        "functions.a:٣",
        "functions.b:5",
        "Functions.a:5",
        "functions.a.a:5",
    ],
)
def test_any_other_id_is_made_anew(bad: str | None) -> None:
    assert claims((bad, "a")) == ["functions.a:0"]


def test_the_next_index_is_over_all_before_it() -> None:
    assert claims(("functions.a:4", "a"), ("x", "b"), ("y", "b")) == [
        "functions.a:4",
        "functions.b:5",
        "functions.b:6",
    ]
    assert claims(("functions.a:0", "a"), ("functions.a:1", "a"), ("functions.a:0", "b")) == [
        "functions.a:0",
        "functions.a:1",
        "functions.b:2",
    ]


def test_calls_count_even_if_indexes_lag_behind() -> None:
    given = [("functions.a:0", "a"), ("functions.b:0", "b"), ("functions.c:0", "c"), ("x", "d")]
    assert claims(*given)[-1] == "functions.d:3"


def test_a_repeat_is_not_good() -> None:
    assert claims(("functions.a:0", "a"), ("functions.a:0", "a")) == ["functions.a:0", "functions.a:1"]


def test_a_made_id_makes_a_later_equal_one_a_repeat() -> None:
    assert claims(("x", "a"), ("functions.a:0", "a")) == ["functions.a:0", "functions.a:1"]


def test_past_nine_digits_a_second_pass_still_changes_nothing() -> None:
    once = claims(("functions.a:999999999", "a"), ("x", "a"), ("y", "a"))
    assert claims(*((each, "a") for each in once)) == once


def test_normalisation_renumbers_good_ids_too() -> None:
    options = KimiOptions(id_normalization=True, repair_on_mismatch=False)
    assert claims(("functions.a:5", "a"), ("functions.a:5", "a"), options=options) == ["functions.a:0", "functions.a:1"]
    assert claims(("x", "a"), options=options, family="k3") == ["functions.a:0"]


def test_the_prefix_is_an_option() -> None:
    options = KimiOptions(id_prefix="tools")
    assert claims(("functions.a:0", "a"), ("tools.a:7", "a"), options=options) == ["tools.a:0", "tools.a:7"]


def test_switched_off_nothing_changes() -> None:
    options = KimiOptions(repair_on_mismatch=False)
    assert not Ledger(options, "k2").active
    assert claims(("x", "a"), ("x", "a"), (None, "a"), options=options) == ["x", "x", ""]


def test_k3_takes_any_id_once() -> None:
    assert claims(("ls:0", "ls"), ("call_9", "ls"), ("functions.b:3", "ls"), family="k3") == [
        "ls:0",
        "call_9",
        "functions.b:3",
    ]
    assert claims(("ls:0", "ls"), ("ls:0", "ls"), ("ls:0", "ls"), family="k3") == ["ls:0", "ls_1", "ls_2"]
    assert claims(("", "a"), (None, "b"), family="k3") == ["a_0", "b_1"]


def test_k3_takes_the_next_free_id() -> None:
    assert claims(("a_1", "a"), ("", "a"), ("", "a"), family="k3") == ["a_1", "a_2", "a_3"]


@pytest.mark.parametrize("family", ["k2", "k3"])
@pytest.mark.parametrize("normalises", [False, True])
@pytest.mark.parametrize("active", [False, True])
def test_many_claims_are_as_many_single_ones(family: Family, normalises: bool, active: bool) -> None:
    options = KimiOptions(id_normalization=normalises, repair_on_mismatch=active)
    at_once, singly = Ledger(options, family), Ledger(options, family)
    runs = [
        [("", "a"), ("", "b")],
        [("functions.a:1", "a"), ("a_9", "a"), ("b_14", "b")],
        [("functions.a:1", "a")] * 3,
        [("functions.a:1", "a"), ("functions.a:9", "a"), ("functions.a:9", "b")],
        [("", "b")] * 9,
        [("", "a")] * 3,
        [],
    ]
    for run in runs:
        claimed = at_once.claim_all([given for given, _ in run], [name for _, name in run])
        assert list(claimed) == [singly.claim(given, name) for given, name in run]
        at_once, singly = at_once.fork(), singly.fork()


def test_request_scope_begins_anew_in_each_message() -> None:
    ledger = Ledger(REQUEST_SCOPE, "k2")
    ledger.begin_message()
    assert [ledger.claim("x", "a"), ledger.claim("y", "a")] == ["functions.a:0", "functions.a:1"]
    ledger.begin_message()
    assert ledger.claim("functions.a:0", "a") == "functions.a:0"
    assert ledger.fork().claim("z", "a") == "functions.a:0"


def test_conversation_scope_goes_on_over_messages() -> None:
    ledger = Ledger(DEFAULT, "k2")
    ledger.begin_message()
    ledger.claim("x", "a")
    ledger.begin_message()
    assert ledger.claim("functions.a:0", "a") == "functions.a:1"


def test_forks_share_the_past_and_nothing_else() -> None:
    history = Ledger(DEFAULT, "k2")
    history.claim("functions.a:0", "a")
    one, two = history.fork(), history.fork()
    assert one.claim("functions.a:0", "a") == "functions.a:1"
    assert two.claim("functions.a:1", "a") == "functions.a:1"
    assert history.claim("functions.a:1", "a") == "functions.a:1"
    late = history.fork()
    assert late.claim("functions.a:0", "a") == "functions.a:2"
    assert one.claim("functions.a:1", "a") == "functions.a:2"


Calls = st.lists(
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


@settings(max_examples=500, deadline=None, derandomize=True)
@given(calls=Calls, family=st.sampled_from(["k2", "k3"]), cut=st.integers(0, 20))
def test_ids_are_unique_stable_and_settled(calls: list[tuple[str | None, str]], family: Family, cut: int) -> None:
    final = claims(*calls, family=family)
    assert len(set(final)) == len(final)
    assert claims(*calls[:cut], family=family) == final[:cut]
    names = [name for _, name in calls]
    assert claims(*zip(final, names, strict=True), family=family) == final


@pytest.mark.parametrize(
    "given",
    [
        lambda _: "same",
        lambda n: f"functions.a:{n % 7}",
        lambda n: f"a_{n + 1}" if n % 2 else "",
        lambda _: "a" + ":1" * 50,
    ],
)
@pytest.mark.parametrize("family", ["k2", "k3"])
def test_time_is_linear_in_the_number_of_calls(given: Callable[[int], str], family: Family) -> None:
    def cost(calls: int) -> float:
        ids = [given(n) for n in range(calls)]
        begin = time.process_time()
        ledger = Ledger(DEFAULT, family)
        for each in ids:
            ledger.claim(each, "a")
        return time.process_time() - begin

    small = min(cost(2_000) for _ in range(3))
    large = min(cost(16_000) for _ in range(3))
    assert large < 8 * 4 * small  # quadratic would be 64 times


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("bash", "bash"),
        ("functions.bash:0", "bash"),
        ("functions.bash", "bash"),
        ("functions_bash_12", "bash"),
        ("functions.a.b:3", "a.b"),
        ("functions.lost:0", "functions.lost:0"),
        ("functions.lost", "functions.lost"),
        ("functions_lost_0", "functions_lost_0"),
        ("functions_bash", "functions_bash"),
        ("functions.time:5", "time:5"),
        ("functions_kept_1", "functions_kept_1"),
        ("functions.kept", "functions.kept"),
        ("unknown", "unknown"),
        ("", ""),
    ],
)
def test_a_disguised_name_is_plain_again_if_it_was_offered(raw: str, name: str) -> None:
    offered = {"bash", "a.b", "time:5", "functions_kept_1", "kept", "functions.kept"}
    assert plain_tool_name(raw, offered) == name
