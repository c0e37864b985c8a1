"""Admission by limits: one worker with a clock that is set by hand, several as real processes."""

from __future__ import annotations

import os
import signal
import time
from hashlib import sha256
from pathlib import Path

import pytest

from moongate.gateway.http.auth import Client
from moongate.gateway.http.limits_page import limits_page
from moongate.gateway.limits.account import Account
from moongate.gateway.limits.budget_share import is_nearly_spent, used_share
from moongate.gateway.limits.limit_set import LimitSet, Refusal
from moongate.gateway.limits.limiter import Admission, Limiter
from moongate.gateway.limits.periods import DAY_SECONDS

KEY, TEAM = sha256(b"key").digest(), sha256(b"team").digest()
SECOND = 1_000_000_000
DAY = 20_775  # 2026-11-18, a Wednesday


class Clock:
    def __init__(self) -> None:
        self.ns = 1000 * SECOND
        self.day = DAY

    def limiter(self) -> Limiter:
        return Limiter(monotonic=lambda: self.ns, wall=lambda: self.day * DAY_SECONDS + 5.0)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def admitted(result: Admission | Refusal) -> Admission:
    assert isinstance(result, Admission)
    return result


def refused(result: Admission | Refusal | None) -> Refusal:
    assert isinstance(result, Refusal)
    return result


def test_a_rate_holds_and_comes_back(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(rpm=60))
    for _ in range(60):
        admitted(limiter.admit((key,))).release()
    assert refused(limiter.admit((key,))) == Refusal("rpm", "key", 60, 1.0)
    assert key.remaining_requests(clock.ns) == 0
    clock.ns += 2 * SECOND
    assert key.remaining_requests(clock.ns) == 2
    assert [isinstance(limiter.admit((key,)), Admission) for _ in range(3)] == [True, True, False]


def test_concurrency_holds_until_a_request_ends(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(concurrency=2))
    first, second = (admitted(limiter.admit((key,))) for _ in range(2))
    assert refused(limiter.admit((key,))).limit == "concurrency"
    first.release()
    first.release()  # once is enough
    assert key.in_flight == 1
    third = admitted(limiter.admit((key,)))
    second.release()
    third.release()
    assert key.in_flight == 0


def test_a_refused_request_takes_nothing_from_anybody(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(rpm=10, concurrency=5))
    team = limiter.account(TEAM, LimitSet(concurrency=1), "team")
    admission = admitted(limiter.admit((key, team)))
    assert refused(limiter.admit((key, team))).owner == "team"
    assert (key.in_flight, key.remaining_requests(clock.ns)) == (1, 9)
    admission.release()


def test_no_limit_is_no_account(clock: Clock) -> None:
    limiter = clock.limiter()
    admission = admitted(limiter.admit(()))
    assert admission.reserve(10, 5, None) is None
    admission.settle(3, None)
    admission.release()
    assert admission.used_share() == 0
    assert not LimitSet()
    assert LimitSet(token_budget=0)


def test_tokens_are_taken_at_the_prompt_and_settled_at_the_end(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(tpm=600))
    admission = admitted(limiter.admit((key,)))
    assert admission.reserve(500, 100, None) is None
    assert key.remaining_tokens(clock.ns) == 500
    admission.settle(700, None)  # the answer was long: 600 more
    admission.release()
    assert key.remaining_tokens(clock.ns) == 0
    second = admitted(limiter.admit((key,)))
    assert refused(second.reserve(50, 50, None)) == Refusal("tpm", "key", 600, 15.0)  # 100 of debt, 50 wanted
    second.release()
    clock.ns += 15 * SECOND
    third = admitted(limiter.admit((key,)))
    assert third.reserve(50, 50, None) is None
    third.settle(10, None)  # less than the prompt was taken for
    third.release()
    assert key.remaining_tokens(clock.ns) == 40


def test_a_prompt_larger_than_the_limit_goes_through_when_nothing_else_does(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(tpm=60))
    admission = admitted(limiter.admit((key,)))
    assert admission.reserve(600, 600, None) is None
    admission.settle(600, None)
    assert refused(admission.reserve(1, 1, None)).retry_after == 541.0


def test_a_budget_is_reserved_then_settled(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(budget=1000, reset="day"))
    first = admitted(limiter.admit((key,)))
    assert first.reserve(10, 5, 700) is None
    second = admitted(limiter.admit((key,)))
    waiting = refused(second.reserve(10, 5, 400))
    assert (waiting.transient, waiting.retry_after) == (True, 1.0)  # only a reservation stands in the way
    first.settle(10, 300)
    first.release()
    assert (key.spent_money, key.reserved_money) == (300, 0)
    assert second.reserve(10, 5, 400) is None
    second.release()  # its usage never came: the estimate counts
    assert (key.spent_money, key.spent_tokens) == (700, 20)
    third = admitted(limiter.admit((key,)))
    over = refused(third.reserve(10, 5, 400))
    assert over == Refusal("budget", "key", 1000, DAY_SECONDS, (DAY + 1) * DAY_SECONDS, transient=False)
    assert third.used_share() == pytest.approx(0.7)


def test_a_budget_begins_anew_and_late_answers_count_in_their_own_window(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(budget=1000, token_budget=50, reset="day"))
    late = admitted(limiter.admit((key,)))
    assert late.reserve(10, 5, 600) is None
    clock.day += 1
    admission = admitted(limiter.admit((key,)))
    assert refused(admission.reserve(10, 5, 600)).transient  # what is in flight is held back from either window
    late.settle(20, 900)
    late.release()
    assert admission.reserve(10, 5, 900) is None
    admission.settle(40, 100)
    assert (key.spent_money, key.spent_tokens) == (100, 40)
    assert refused(admission.reserve(11, 5, 1)).limit == "token_budget"
    assert used_share(key) == pytest.approx(0.8)
    assert key.resets_at(clock.day) == (DAY + 2) * DAY_SECONDS


def test_a_client_sees_a_new_day_s_budget_before_its_first_request(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(budget=2_000_000, reset="day"))
    client = Client("ada", KEY, (key, limiter.account(TEAM, LimitSet(rpm=5), "team")))
    admission = admitted(limiter.admit((key,)))
    assert admission.reserve(1, 1, 1_500_000) is None
    admission.release()
    assert limits_page(client, limiter)["limits"][0]["budget"] == {"limit": 2.0, "spent": 1.5, "remaining": 0.5}
    clock.day += 1
    assert limits_page(client, limiter)["limits"][0]["budget"] == {"limit": 2.0, "spent": 0.0, "remaining": 2.0}
    limiter.account(KEY, LimitSet(token_budget=7))
    assert str(limits_page(client, limiter)["limits"][0]["token_budget"]["limit"]) == "7"


def test_a_clock_that_goes_back_over_midnight_gives_nobody_a_budget_again(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(budget=1000, reset="day"))

    def spend(money: int) -> bool:
        admission = admitted(limiter.admit((key,)))
        allowed = admission.reserve(1, 1, money) is None
        admission.release()
        return allowed

    assert spend(900)
    clock.day += 1
    assert [spend(800), key.spent_money] == [True, 800]
    clock.day -= 1
    assert [spend(300), spend(100), key.spent_money] == [False, True, 900]
    clock.day += 1
    assert [spend(200), spend(100), key.spent_money] == [False, True, 1000]
    clock.day -= 30  # it was wrong before: budgets go by what it says now
    assert spend(1000)


@pytest.mark.parametrize("reset", ["never", "day"])
def test_a_budget_that_comes_or_goes_during_a_request_is_given_back_what_was_reserved(clock: Clock, reset: str) -> None:
    limiter = clock.limiter()
    without, limits = LimitSet(tpm=1000), LimitSet(tpm=1000, budget=1000, token_budget=500, reset=reset)
    key = limiter.account(KEY, without)
    early = admitted(limiter.admit((key,)))
    assert early.reserve(10, 5, 600) is None
    limiter.account(KEY, limits)
    early.settle(10, 600)
    assert (key.reserved_money, key.reserved_tokens) == (0, 0)
    late = admitted(limiter.admit((key,)))
    assert late.reserve(10, 5, 300) is None
    limiter.account(KEY, without)
    late.release()
    assert (key.reserved_money, key.reserved_tokens) == (0, 0)


def test_a_budget_that_never_begins_anew(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(token_budget=0))
    refusal = refused(admitted(limiter.admit((key,))).reserve(1, 1, None))
    assert refusal == Refusal("token_budget", "key", 0, None, None, transient=False)
    assert used_share(key) == 1
    assert is_nearly_spent(key)


def test_money_needs_a_price(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(budget=1000))
    assert refused(admitted(limiter.admit((key,))).reserve(1, 1, None)).limit == "price"


def test_what_the_store_says_was_spent_counts(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(budget=1000, reset="day"))
    key.load(DAY, 950, 7)
    admission = admitted(limiter.admit((key,)))
    assert refused(admission.reserve(1, 1, 51)).limit == "budget"
    assert admission.reserve(1, 1, 50) is None
    admission.settle(1, 50)
    assert (key.spent_money, key.spent_tokens) == (1000, 8)
    clock.day += 1
    assert admission.reserve(1, 1, 1000) is None


def test_new_limits_keep_what_was_used(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(budget=1000))
    admission = admitted(limiter.admit((key,)))
    admission.reserve(1, 1, 600)
    admission.release()
    assert limiter.account(KEY, LimitSet(budget=700)) is key
    assert limiter.account(KEY, LimitSet(budget=700)) is key
    assert refused(admitted(limiter.admit((key,))).reserve(1, 1, 200)).allowed == 700
    assert key.remaining_requests(clock.ns) is None
    assert key.remaining_tokens(clock.ns) is None


def test_where_the_table_is_full_limits_hold_within_the_worker(clock: Clock) -> None:
    limiter = clock.limiter()
    limiter._table._known = limiter._table.values[0] = 1 << 16
    key = limiter.account(KEY, LimitSet(concurrency=1))
    admitted(limiter.admit((key,)))
    assert refused(limiter.admit((key,))).limit == "concurrency"


def _spawn(folder: Path, worker: int, limits: LimitSet, tries: int, *, hold: bool = False) -> int:
    """A worker that tries to get in so often, writes down how often it did, and then leaves or holds on."""
    pid = os.fork()
    if pid:
        return pid
    limiter = Limiter(folder, worker=worker, workers=4, lock_seconds=60)
    key = limiter.account(KEY, limits)
    while not (folder / "go").exists():
        time.sleep(0.001)
    count = 0
    for _ in range(tries):
        admission = limiter.admit((key,))
        if isinstance(admission, Admission):
            count += admission.reserve(1, 1, 1) is None
            if not hold:
                admission.settle(1, 1)
                admission.release()
    (folder / f"count-{worker}").write_text(str(count))
    (folder / f"done-{worker}").touch()
    while hold:
        time.sleep(1)
    os._exit(0)


def _race(folder: Path, limits: LimitSet, tries: int, *, hold: bool = False) -> tuple[int, list[int]]:
    pids = [_spawn(folder, worker, limits, tries, hold=hold) for worker in range(4)]
    (folder / "go").touch()
    while not all((folder / f"done-{worker}").exists() for worker in range(4)):
        time.sleep(0.005)
    return sum(int((folder / f"count-{worker}").read_text()) for worker in range(4)), pids


def _end(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [(LimitSet(rpm=1000), 1000), (LimitSet(budget=777), 777), (LimitSet(token_budget=555), 555)],
)
def test_limits_are_exact_over_four_workers(tmp_path: Path, limits: LimitSet, expected: int) -> None:
    began = time.monotonic()
    count, pids = _race(tmp_path, limits, 1500)
    seconds = time.monotonic() - began
    for pid in pids:
        os.waitpid(pid, 0)
    refilled = int(seconds * limits.rpm / 60) + 1 if limits.rpm else 0
    assert expected <= count <= expected + refilled


def test_slots_of_killed_workers_are_free_and_their_reservations_spent(tmp_path: Path) -> None:
    limits = LimitSet(concurrency=37, budget=30)
    count, pids = _race(tmp_path, limits, 20, hold=True)
    assert count == 30
    _end(pids)
    watcher = Limiter(tmp_path, worker=0, workers=4)
    key = watcher.account(KEY, limits)
    assert 0 < key.in_flight <= 37  # those of worker 0 are gone, its successor has started
    successors = [Limiter(tmp_path, worker=worker, workers=4) for worker in (1, 2, 3)]
    assert (key.in_flight, key.reserved_money, key.spent_money) == (0, 0, 30)
    assert watcher.lock_timeouts == 0
    for limiter in (watcher, *successors):
        limiter.close()


def test_an_account_is_named_for_messages(clock: Clock) -> None:
    account = clock.limiter().account(TEAM, LimitSet(rpm=1), "team")
    assert isinstance(account, Account)
    assert (account.owner, account.identity) == ("team", TEAM)


def test_more_may_be_put_aside_for_a_request_and_is_settled_with_it(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(token_budget=1000, concurrency=2))
    admission = admitted(limiter.admit((key,)))
    assert admission.reserve(400, 100, None) is None
    assert admission.reserve_more(400, 100, None)
    assert key.reserved_tokens == 800
    assert not admission.reserve_more(400, 100, None)
    admission.settle(500, None)
    assert (key.reserved_tokens, key.spent_tokens) == (0, 500)
    admission.release()
    assert admitted(limiter.admit((key,)))
    assert admitted(limiter.admit((key,)))


def test_what_was_put_aside_and_never_settled_is_taken_as_spent(clock: Clock) -> None:
    limiter = clock.limiter()
    key = limiter.account(KEY, LimitSet(token_budget=1000))
    admission = admitted(limiter.admit((key,)))
    assert admission.reserve(400, 100, None) is None
    assert admission.reserve_more(300, 100, None)
    admission.release()
    assert (key.reserved_tokens, key.spent_tokens) == (0, 700)
