"""Two gateways' limiters over one real Redis: they admit together what one would."""

from __future__ import annotations

import asyncio

import pytest
from tests.gateway.shared.shared_nodes import (
    TEAM,
    Ledger,
    Node,
    admitted,
    granted,
    nodes,
    run,
    slots_of,
    spent_of,
    until,
)
from tests.support.redis_server import RedisServer

from moongate.errors import Overloaded
from moongate.gateway.limits.limit_set import LimitSet, Refusal
from moongate.gateway.limits.limiter import Admission


def test_concurrency_holds_over_two_gateways_and_slots_come_back(redis: RedisServer) -> None:
    async def test() -> None:
        async with nodes(redis) as made:
            limits = LimitSet(concurrency=7)
            found = await asyncio.gather(*(made[n % 2].begin(made[n % 2].account(limits)) for n in range(40)))
            taken = admitted(found)
            assert len(taken) == 7
            assert {each.limit for each in found if isinstance(each, Refusal)} == {"concurrency"}
            taken[0].release()
            await until(lambda: slots_of(redis) == 6)
            again = [await made[n % 2].begin(made[n % 2].account(limits)) for n in range(4)]
            assert len(admitted(again)) == 1

    run(test)


def test_rates_hold_over_two_gateways(redis: RedisServer) -> None:
    async def test() -> None:
        async with nodes(redis) as made:
            key, team = LimitSet(rpm=1000), LimitSet(rpm=60)
            found = []
            for n in range(100):
                node = made[n % 2]
                found.append(await node.begin(node.account(key), node.account(team, TEAM, "team")))
            # A minute's worth at once, and one more for each second that this takes.
            assert 60 <= len(admitted(found)) <= 75
            refusals = [each for each in found if isinstance(each, Refusal)]
            assert {(each.limit, each.owner, each.allowed) for each in refusals} == {("rpm", "team", 60)}
            assert all(each.retry_after is not None and 0 < each.retry_after <= 1.1 for each in refusals)

    run(test)


def test_tokens_are_taken_and_corrected(redis: RedisServer) -> None:
    async def test() -> None:
        async with nodes(redis) as (one, other):
            limits = LimitSet(tpm=60)
            first = await one.begin(one.account(limits), tokens=40, prompt=30)
            assert isinstance(first, Admission)
            first.settle(50, 0)
            first.release()
            await until(lambda: slots_of(redis) == 0)  # its end has come
            refused = await other.begin(other.account(limits), tokens=20, prompt=20)
            assert isinstance(refused, Refusal)
            assert refused.limit == "tpm"
            assert isinstance(await other.begin(other.account(limits), tokens=5, prompt=5), Admission)

    run(test)


def test_budgets_hold_over_two_gateways(redis: RedisServer) -> None:
    async def test() -> None:
        ledger = Ledger()
        ledger.money = 400
        async with nodes(redis, ledger=ledger) as (one, other):
            limits = LimitSet(budget=1000)
            first = await granted(one, one.account(limits), cost=500)
            refused = await other.begin(other.account(limits), cost=200)
            assert isinstance(refused, Refusal)
            assert (refused.limit, refused.transient) == ("budget", True)
            first.settle(10, 100)
            first.release()
            second = await granted(other, other.account(limits), cost=450)
            second.settle(10, 450)
            second.release()
            await until(lambda: spent_of(redis) == 950)
            refused = await granted_or_refused(one, limits)
            assert (refused.limit, refused.transient) == ("budget", False)
            assert one.account(limits).spent_money == 950

    run(test)


async def granted_or_refused(node: Node, limits: LimitSet) -> Refusal:
    async with asyncio.timeout(60):
        while True:
            found = await node.begin(node.account(limits), cost=100)
            if isinstance(found, Refusal):
                return found
            found.settle(0, 0)
            found.release()


def test_the_slots_and_reservations_of_a_dead_gateway_come_back(redis: RedisServer) -> None:
    async def test() -> None:
        async with nodes(redis) as (one, other):
            limits = LimitSet(concurrency=2, budget=1000)
            await granted(one, one.account(limits), cost=300)
            await granted(one, one.account(limits), cost=300)
            assert isinstance(await other.begin(other.account(limits), cost=1), Refusal)
            one.state.close()  # as if it were killed: nothing is told
            admission = await first_admitted(other, limits)
            assert admission.shared is not None
            assert other.account(limits).spent_money == 600  # as they were estimated

    run(test)


async def first_admitted(node: Node, limits: LimitSet) -> Admission:
    async with asyncio.timeout(60):
        while True:
            found = await node.begin(node.account(limits), cost=1)
            if isinstance(found, Admission):
                return found
            await asyncio.sleep(0.1)


def test_slots_of_a_long_request_are_renewed(redis: RedisServer) -> None:
    async def test() -> None:
        async with nodes(redis) as (one, other):
            limits = LimitSet(concurrency=1)
            held = await one.begin(one.account(limits))
            assert isinstance(held, Admission)
            for _ in range(9):  # longer than the lease of three seconds
                await asyncio.sleep(0.5)
                assert isinstance(await other.begin(other.account(limits)), Refusal)
            held.release()

    run(test)


@pytest.mark.parametrize("how", ["kill", "freeze"])
def test_away_each_gateway_has_its_part_and_is_told_of_once(redis_server: RedisServer, how: str) -> None:
    redis_server.command("FLUSHALL")

    async def test() -> None:
        async with nodes(redis_server, deadline=0.5) as made:
            limits = LimitSet(rpm=60, concurrency=10)
            for node in made:
                first = await node.begin(node.account(limits))
                assert isinstance(first, Admission)
                first.release()
            getattr(redis_server, how)()
            await until_away(made, limits)
            held = []
            for node in made:
                found = [await node.begin(node.account(limits)) for _ in range(20)]
                held.append(admitted(found))
            assert [len(each) for each in held] == [5, 5]
            if how == "kill":
                redis_server.start()
            else:
                redis_server.thaw()
            await until(lambda: all(node.state.is_up for node in made))
            # What is in flight is known to all again: nothing is free, on either.
            await until(lambda: slots_of(redis_server) == 10)
            assert all([isinstance(await node.begin(node.account(limits)), Refusal) for node in made])
            for each in held:
                for admission in each:
                    admission.release()
            await until(lambda: slots_of(redis_server) == 0)
            for node in made:
                assert len([text for text in node.messages if "is away" in text]) == 1
                assert len([text for text in node.messages if "is back after" in text]) == 1
                assert "2 gateways" in node.messages[0]

    run(test)


async def until_away(made: list[Node], limits: LimitSet) -> None:
    """Ask until the breaker has noticed."""
    async with asyncio.timeout(60):
        while any(node.state.is_up for node in made):
            for node in made:
                found = await node.begin(node.account(limits))
                if isinstance(found, Admission):
                    found.release()
            await asyncio.sleep(0.01)


def test_what_was_spent_while_it_was_away_is_told_once(redis_server: RedisServer) -> None:
    redis_server.command("FLUSHALL")

    async def test() -> None:
        async with nodes(redis_server, deadline=0.5) as (one, other):
            limits = LimitSet(budget=10_000)
            before = await granted(one, one.account(limits), cost=100)  # ends while it is away
            redis_server.freeze()
            await until_away([one, other], limits)
            alone = await one.begin(one.account(limits), cost=300)
            assert isinstance(alone, Admission)
            for admission in (before, alone):
                admission.settle(1, 50)
                admission.release()
            redis_server.thaw()
            await until(lambda: one.state.is_up and other.state.is_up)
            await until(lambda: spent_of(redis_server) == 100)
            one.state.limits.renew()  # said again, it counts no more
            after = await granted(other, other.account(limits), cost=10)
            after.settle(1, 10)
            after.release()
            await until(lambda: spent_of(redis_server) == 110)

    run(test)


@pytest.mark.parametrize(
    ("breaks", "mends", "words"),
    [
        (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0"), "OOM"),
        (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE"), "READONLY"),
    ],
    ids=["full", "replica"],
)
def test_a_server_that_takes_no_writes_is_away_until_it_does(
    redis_server: RedisServer, breaks: tuple[str, ...], mends: tuple[str, ...], words: str
) -> None:
    """It answers PING all the time."""
    redis_server.command("FLUSHALL")

    async def test() -> None:
        async with nodes(redis_server, deadline=0.5) as (one, other):
            limits = LimitSet(budget=10_000)
            before = await granted(one, one.account(limits), cost=100)
            redis_server.command(*breaks)
            before.settle(1, 50)  # told to a server that refuses it
            before.release()
            await until_away([one, other], limits)
            alone = await one.begin(one.account(limits), cost=300)
            assert isinstance(alone, Admission)
            alone.settle(1, 60)
            alone.release()
            await asyncio.sleep(1.5)  # several probes
            assert not one.state.is_up
            stranger = Node(redis_server, "stranger", Ledger())
            stranger.state.start(stranger)
            await until(lambda: bool(stranger.messages))
            stranger.state.close()
            redis_server.command(*mends)
            await until(lambda: one.state.is_up and other.state.is_up)
            one.state.limits.renew()
            await until(lambda: spent_of(redis_server) == 110)
            for node in (one, other):
                assert [words in text for text in node.messages] == [True, False]
                assert node.untold == 0
            assert words in stranger.messages[0]

    run(test)


def test_a_part_is_one_of_what_the_store_says_is_left(redis_server: RedisServer) -> None:
    """Another gateway has spent, and this one has not asked since."""
    redis_server.command("FLUSHALL")

    async def test() -> None:
        ledger = Ledger()
        async with nodes(redis_server, ledger=ledger) as (one, other):
            account = one.account(LimitSet(budget=1000))
            (await granted(one, account, cost=1)).release()
            ledger.money = 600
            redis_server.kill()
            await until(lambda: not one.state.is_up and not other.state.is_up)
            await until(lambda: account.spent_money == 600)
            assert isinstance(await one.begin(account, cost=201), Refusal)
            assert isinstance(await one.begin(account, cost=200), Admission)
            redis_server.start()

    run(test)


@pytest.mark.parametrize("tokens", [False, True])
def test_a_part_is_never_more_than_what_others_have_left(redis_server: RedisServer, tokens: bool) -> None:
    """Only the link of this gateway is cut: others have the whole budget, and spend it."""
    redis_server.command("FLUSHALL")

    async def test() -> None:
        ledger = Ledger()
        async with nodes(redis_server, 1, ledger=ledger) as (one,):
            account = one.account(LimitSet(token_budget=1000) if tokens else LimitSet(budget=1000))

            async def begin(amount: int) -> Admission | Refusal:
                found = await (one.begin(account, tokens=amount) if tokens else one.begin(account, cost=amount))
                if isinstance(found, Admission):
                    found.settle(0, 0)
                    found.release()
                return found

            (await granted(one, account)).release()
            redis_server.kill()
            await until(lambda: ledger.looks > 2)
            assert isinstance(await begin(1000), Admission)
            ledger.money = ledger.tokens = 950
            async with asyncio.timeout(60):
                while isinstance(await begin(51), Admission):
                    await asyncio.sleep(0.05)
            assert isinstance(await begin(50), Admission)
            redis_server.start()

    run(test)


def test_a_part_that_is_spent_stays_so_until_the_sum_is_known(redis_server: RedisServer) -> None:
    redis_server.command("FLUSHALL")

    async def test() -> None:
        ledger = Ledger()
        async with nodes(redis_server, ledger=ledger) as (one, other):
            account = one.account(LimitSet(budget=1000, rpm=600))
            (await granted(one, account)).release()
            redis_server.kill()
            await until(lambda: not one.state.is_up and not other.state.is_up)
            alone = await one.begin(account, cost=500)
            assert isinstance(alone, Admission)
            alone.settle(1, 500)
            alone.release()
            ledger.is_readable.clear()
            redis_server.start()
            await until(lambda: one.state.is_up and other.state.is_up)
            assert isinstance(await one.begin(account, cost=100), Refusal)
            ledger.money = 500
            ledger.is_readable.set()
            await granted(one, account, cost=500)

    run(test)


def test_the_first_request_of_a_budget_waits_until_it_is_known(redis: RedisServer) -> None:
    async def test() -> None:
        ledger = Ledger()
        ledger.money = 400
        async with nodes(redis, ledger=ledger) as made:
            found = await asyncio.gather(
                *(made[n % 2].begin(made[n % 2].account(LimitSet(budget=1000)), cost=100) for n in range(20))
            )
            assert len(admitted(found)) == 6

    run(test)


def test_an_emptied_server_is_told_what_the_store_knows(redis_server: RedisServer) -> None:
    redis_server.command("FLUSHALL")

    async def test() -> None:
        ledger = Ledger()
        async with nodes(redis_server, ledger=ledger) as (one, other):
            limits = LimitSet(budget=1000)
            held = await granted(one, one.account(limits), cost=200)
            redis_server.kill()
            ledger.money = 600  # what all gateways had journalled
            redis_server.start()
            await until(lambda: one.state.is_up and other.state.is_up)
            first = await granted(other, other.account(limits), cost=100)
            held.settle(1, 150)
            held.release()
            await until(lambda: spent_of(redis_server) == 750)
            first.settle(0, 0)
            first.release()

    run(test)


def test_closed_refuses_and_open_lets_everything_through(redis_server: RedisServer) -> None:
    redis_server.command("FLUSHALL")

    async def test() -> None:
        limits = LimitSet(concurrency=2)
        closed = nodes(redis_server, 1, on_loss="closed")
        async with closed as (one,):
            redis_server.kill()
            await until(lambda: not one.state.is_up)
            with pytest.raises(Overloaded, match="cannot be asked"):
                await one.begin(one.account(limits))
        redis_server.start()
        async with nodes(redis_server, 1, on_loss="open") as (one,):
            redis_server.kill()
            await until(lambda: not one.state.is_up)
            found = [await one.begin(one.account(limits)) for _ in range(10)]
            assert len(admitted(found)) == 10
            redis_server.start()
            await until(lambda: one.state.is_up)
            assert isinstance(await one.begin(one.account(limits)), Refusal)

    run(test)


def test_clients_without_limits_ask_nobody(redis: RedisServer) -> None:
    async def test() -> None:
        async with nodes(redis, 1) as (one,):
            admission = await one.begin(one.account(LimitSet()))
            assert isinstance(admission, Admission)
            assert admission.shared is None

    run(test)
