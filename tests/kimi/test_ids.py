from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from moongate.kimi.family import IdRule
from moongate.kimi.ids import CallIds, bare_tool_name
from moongate.kimi.options import KimiOptions

DEFAULT = KimiOptions()
REQUEST_SCOPE = KimiOptions(counter_scope="request")


def claims(
    *calls: tuple[str | None, str], options: KimiOptions = DEFAULT, rule: IdRule = IdRule.TOOL_NAME
) -> list[str]:
    call_ids = CallIds(options, rule)
    return [call_ids.claim(original_id or "", name) for original_id, name in calls]


def test_valid_ids_are_kept() -> None:
    assert claims(("functions.a:0", "a"), ("functions.b:1", "b")) == ["functions.a:0", "functions.b:1"]


@pytest.mark.parametrize("valid", ["functions.a:7", "functions.a:007", "functions.a:999999999"])
def test_an_index_is_one_to_nine_digits(valid: str) -> None:
    assert claims((valid, "a")) == [valid]


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
def test_any_other_id_is_replaced(bad: str | None) -> None:
    assert claims((bad, "a")) == ["functions.a:0"]


def test_a_new_index_is_higher_than_all_before() -> None:
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


def test_the_number_of_calls_counts_if_indexes_are_lower() -> None:
    calls = [("functions.a:0", "a"), ("functions.b:0", "b"), ("functions.c:0", "c"), ("x", "d")]
    assert claims(*calls)[-1] == "functions.d:3"


def test_a_repeated_id_is_invalid() -> None:
    assert claims(("functions.a:0", "a"), ("functions.a:0", "a")) == ["functions.a:0", "functions.a:1"]


def test_an_id_equal_to_a_new_one_is_a_repeat() -> None:
    assert claims(("x", "a"), ("functions.a:0", "a")) == ["functions.a:0", "functions.a:1"]


def test_beyond_nine_digits_a_second_pass_still_changes_nothing() -> None:
    once = claims(("functions.a:999999999", "a"), ("x", "a"), ("y", "a"))
    assert claims(*((each, "a") for each in once)) == once


def test_normalisation_renumbers_valid_ids_too() -> None:
    options = KimiOptions(id_normalization=True, repair_on_mismatch=False)
    assert claims(("functions.a:5", "a"), ("functions.a:5", "a"), options=options) == ["functions.a:0", "functions.a:1"]
    assert claims(("x", "a"), options=options, rule=IdRule.UNIQUE) == ["functions.a:0"]


def test_the_prefix_is_an_option() -> None:
    options = KimiOptions(id_prefix="tools")
    assert claims(("functions.a:0", "a"), ("tools.a:7", "a"), options=options) == ["tools.a:0", "tools.a:7"]


def test_with_the_repair_off_ids_are_unchanged() -> None:
    options = KimiOptions(repair_on_mismatch=False)
    assert not CallIds(options, IdRule.TOOL_NAME).active
    assert claims(("x", "a"), ("x", "a"), (None, "a"), options=options) == ["x", "x", ""]


def test_with_the_repair_off_a_call_from_text_gets_an_id_that_is_new() -> None:
    call_ids = CallIds(KimiOptions(repair_on_mismatch=False), IdRule.UNIQUE)
    call_ids.keep(["ls_2", "ls_2", ""])
    answer = call_ids.fork()
    assert [answer.free_id("ls"), answer.free_id("ls")] == ["ls_3", "ls_4"]
    answer.keep(["ls_6"])
    assert answer.free_id("ls") == "ls_7"
    assert call_ids.fork().free_id("a") == "a_3"


def test_k3_accepts_any_id_once() -> None:
    assert claims(("ls:0", "ls"), ("call_9", "ls"), ("functions.b:3", "ls"), rule=IdRule.UNIQUE) == [
        "ls:0",
        "call_9",
        "functions.b:3",
    ]
    assert claims(("ls:0", "ls"), ("ls:0", "ls"), ("ls:0", "ls"), rule=IdRule.UNIQUE) == ["ls:0", "ls_1", "ls_2"]
    assert claims(("", "a"), (None, "b"), rule=IdRule.UNIQUE) == ["a_0", "b_1"]


def test_k3_gets_the_next_free_id() -> None:
    assert claims(("a_1", "a"), ("", "a"), ("", "a"), rule=IdRule.UNIQUE) == ["a_1", "a_2", "a_3"]


@pytest.mark.parametrize("rule", IdRule)
@pytest.mark.parametrize("normalises", [False, True])
@pytest.mark.parametrize("active", [False, True])
def test_claiming_many_ids_equals_claiming_each(rule: IdRule, normalises: bool, active: bool) -> None:
    options = KimiOptions(id_normalization=normalises, repair_on_mismatch=active)
    at_once, singly = CallIds(options, rule), CallIds(options, rule)
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
        claimed = at_once.claim_all([original_id for original_id, _ in run], [name for _, name in run])
        assert list(claimed) == [singly.claim(original_id, name) for original_id, name in run]
        at_once, singly = at_once.fork(), singly.fork()


def test_request_scope_restarts_with_each_message() -> None:
    call_ids = CallIds(REQUEST_SCOPE, IdRule.TOOL_NAME)
    call_ids.begin_message()
    assert [call_ids.claim("x", "a"), call_ids.claim("y", "a")] == ["functions.a:0", "functions.a:1"]
    call_ids.begin_message()
    assert call_ids.claim("functions.a:0", "a") == "functions.a:0"
    assert call_ids.fork().claim("z", "a") == "functions.a:0"


def test_conversation_scope_continues_over_messages() -> None:
    call_ids = CallIds(DEFAULT, IdRule.TOOL_NAME)
    call_ids.begin_message()
    call_ids.claim("x", "a")
    call_ids.begin_message()
    assert call_ids.claim("functions.a:0", "a") == "functions.a:1"


def test_forks_share_the_ids_before_and_nothing_else() -> None:
    history = CallIds(DEFAULT, IdRule.TOOL_NAME)
    history.claim("functions.a:0", "a")
    one, two = history.fork(), history.fork()
    assert one.claim("functions.a:0", "a") == "functions.a:1"
    assert two.claim("functions.a:1", "a") == "functions.a:1"
    assert history.claim("functions.a:1", "a") == "functions.a:1"
    late = history.fork()
    assert late.claim("functions.a:0", "a") == "functions.a:2"
    assert one.claim("functions.a:1", "a") == "functions.a:2"


@pytest.mark.parametrize(
    "original_id",
    [
        lambda _: "same",
        lambda n: f"functions.a:{n % 7}",
        lambda n: f"a_{n + 1}" if n % 2 else "",
        lambda _: "a" + ":1" * 50,
    ],
)
@pytest.mark.parametrize("rule", IdRule)
def test_time_is_linear_in_the_number_of_calls(original_id: Callable[[int], str], rule: IdRule) -> None:
    def cost(calls: int) -> float:
        ids = [original_id(n) for n in range(calls)]
        begin = time.process_time()
        call_ids = CallIds(DEFAULT, rule)
        for each in ids:
            call_ids.claim(each, "a")
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
def test_an_id_in_place_of_a_name_becomes_an_offered_name(raw: str, name: str) -> None:
    offered = {"bash", "a.b", "time:5", "functions_kept_1", "kept", "functions.kept"}
    assert bare_tool_name(raw, offered) == name
