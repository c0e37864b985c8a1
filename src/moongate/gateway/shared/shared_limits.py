"""Limits that hold over all gateways: one script when a request begins, one when it has ended.

What the shared state answers is copied into the limits of this gateway (`Account.follow`), so that they are right at
the moment when it goes away. Then each gateway has a part of every limit (`on_loss: "degrade"`), and what it lets
through is reported once, when the shared state is back.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from moongate.errors import Overloaded
from moongate.gateway.limits.account import Account
from moongate.gateway.limits.limit_set import Refusal
from moongate.gateway.limits.limiter import Admission, Limiter
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.shared.budget_parts import raise_spent
from moongate.gateway.shared.connection import PendingCall
from moongate.gateway.shared.link import StateLink
from moongate.gateway.shared.resp import Reply, ReplyError
from moongate.gateway.shared.script import (
    MUST_LOAD,
    TAKEN,
    ClientCommands,
    numbers_of,
    refusal_of,
    run_script,
)
from moongate.gateway.shared.shared_request import SharedRequest
from moongate.gateway.store.snapshot import Spent

LEASE_SECONDS: Final = 30  # after which a slot is free whose gateway does not renew it
MAX_UNREPORTED: Final = 100_000  # ended requests that wait until the shared state is back
MAX_CLIENTS: Final = 10_000  # whose commands are remembered
MICRO: Final = 1000  # nanoseconds
Load = Callable[[ClientCommands], Awaitable[None]]  # what its accounts have spent, from the store
EndedRequest = tuple[SharedRequest, int, int, int]  # tokens, money, when it ended in milliseconds


class SharedLimits:
    """One worker's. `on_loss` is what happens to requests while the shared state is away."""

    def __init__(
        self,
        link: StateLink,
        limiter: Limiter,
        metrics: Metrics,
        *,
        prefix: str,
        node: str,
        worker_id: str,
        on_loss: str = "degrade",
        load: Load | None = None,
        lease: int = LEASE_SECONDS,
    ) -> None:
        self._link = link
        self._limiter = limiter
        self._metrics = metrics
        self._prefix, self._node = prefix, node
        self.on_loss = on_loss
        self._load = load
        self.lease = lease
        self._request_name = worker_id.encode() + b".%x"
        self._count = 0
        self._clients: dict[tuple[Account, ...], ClientCommands] = {}
        self._loaded: dict[bytes, int] = {}  # when each account was loaded
        self._open: dict[bytes, SharedRequest] = {}
        self._unreported: deque[EndedRequest] = deque()
        self._rates: dict[bytes, tuple[int, int]] = {}  # of the accounts, when the shared state went away
        self._unloaded: set[bytes] = set()  # accounts of which the shared state does not know what they have spent
        self.gateways: Callable[[], int] = lambda: 1  # how many there are
        self._divisor = 1
        self.local_requests = 0  # begun without the shared state since it went away

    async def begin(self, admission: Admission, tokens: int, prompt: int, cost: int | None) -> Refusal | None:
        """Check the limits in the shared state. Raises Overloaded if it is away and `on_loss` is "closed"."""
        accounts = admission.accounts
        for account in accounts:
            if account.has_request_limits or account.has_cost_limits:
                break
        else:
            return None
        day, client = self._limiter.today(), self._client(accounts)
        self._count += 1
        name = self._request_name % self._count
        amounts = (tokens, prompt, -1 if cost is None else cost)
        data = client.begin(name, self.lease, *amounts, day)
        loaded = tuple([self._loaded.get(account.identity, 0) for account in accounts])
        entry = SharedRequest(name, client, amounts, loaded, self._end)
        if not self._link.is_up and self.on_loss == "closed":
            raise _away()
        admission.shared = entry
        reply = await self._ask(data)
        if reply is not None and reply[0] == MUST_LOAD and self._load is not None:
            await self._load(client)
            reply = await self._ask(data)
        if reply is not None:
            return self._answered(reply, entry, admission, day)
        if self.on_loss == "closed":
            raise _away()  # `release` takes it back, should it have been done
        self._admit_locally(entry)
        return None

    async def _ask(self, data: bytes) -> list[Reply] | None:
        """None: there was no answer in time."""
        if not self._link.is_up:
            return None
        call = self._link.call(data)
        await call.wait()
        self._link.check(call)
        if not call.failed and isinstance(call.reply, list):
            return call.reply
        self._metrics.count("moongate_state_missed_total")
        return None

    def _answered(self, reply: list[Reply], entry: SharedRequest, admission: Admission, day: int) -> Refusal | None:
        client, now = entry.client, self._limiter.now()
        loaded = []
        for index, account in enumerate(client.accounts):
            requests, tokens, money, spent_tokens, window, at = numbers_of(reply, index)
            if reply[0] != MUST_LOAD:
                if account.identity in self._unloaded:
                    self._unloaded.discard(account.identity)
                    account.change(account.limits)
                account.follow(requests * MICRO, tokens * MICRO, window, money, spent_tokens, now)
                self._loaded[account.identity] = at
            elif account.identity not in self._unloaded:
                self._unloaded.add(account.identity)
                account.change(account.limits, self.gateways())
            loaded.append(at)
        if reply[0] == TAKEN:
            entry.registered = entry.is_granted = True
            entry.loaded = tuple(loaded)
            self._open[entry.id] = entry
            return None
        if reply[0] == MUST_LOAD:
            self._admit_locally(entry)
            return None
        admission.shared = None
        return refusal_of(reply, client.accounts, day)

    def _admit_locally(self, entry: SharedRequest) -> None:
        """Go by this gateway's own limits: the shared state learns of the request when it is back."""
        self.local_requests += 1
        self._open[entry.id] = entry
        self._metrics.count("moongate_state_local_checks_total")

    def _client(self, accounts: tuple[Account, ...]) -> ClientCommands:
        found = self._clients.get(accounts)
        if found is None:
            if len(self._clients) >= MAX_CLIENTS:
                self._clients.clear()
            found = self._clients[accounts] = ClientCommands(accounts, self._prefix)
        return found

    def _end(self, entry: SharedRequest, tokens: int, cost: int) -> None:
        self._open.pop(entry.id, None)
        self._report((entry, tokens, cost, int(time.time() * 1000)))

    def _report(self, ended_request: EndedRequest) -> None:
        entry, tokens, cost, ended = ended_request
        if not self._link.is_up:
            self._keep_for_later(ended_request)
            return
        # The rate of one that was not registered is reported as a debt: here its tokens count only in the budget.
        took = (entry.prompt if entry.registered else tokens, tokens, cost)
        data = entry.client.finish(
            entry.id, took, entry.loaded, entry.windows, unregistered=not entry.registered, ended=ended
        )

        def on_done(call: PendingCall) -> None:
            if isinstance(call.reply, ReplyError) and call.reply.comes_again:
                self._metrics.count("moongate_state_unreported_total")
            elif call.failed or isinstance(call.reply, ReplyError):
                self._keep_for_later(ended_request)

        self._link.call(data, on_done, lingers=not entry.frees_scarce_place(self.gateways()))

    def _keep_for_later(self, ended_request: EndedRequest) -> None:
        if len(self._unreported) >= MAX_UNREPORTED:
            self._unreported.popleft()
            self._metrics.count("moongate_state_unreported_total")
        self._unreported.append(ended_request)

    def renew(self) -> None:
        """Requests that are in flight stay so; to be called several times within a lease."""
        by_account: dict[str, tuple[list[str], list[bytes | str | int]]] = {}
        for entry in self._open.values():
            for keys, window in zip(entry.client.keys, entry.windows, strict=True):
                values = by_account.setdefault(keys[0], (keys, []))[1]
                values += (entry.id, max(entry.cost, 0), entry.tokens, window)
        kept = list(self._open.values())

        def on_done(call: PendingCall) -> None:
            if not call.failed:
                for entry in kept:
                    entry.registered = True

        for keys, values in by_account.values():
            self._link.call(run_script("keep", keys, self.lease * 1_000_000, *values), on_done)
        if self._unreported:
            self.report_ended()

    def report_ended(self) -> None:
        """Report the requests that ended while the shared state was away."""
        waiting, self._unreported = self._unreported, deque()
        for each in waiting:
            self._report(each)

    def went_away(self) -> None:
        """From now on each gateway enforces its own part of every limit."""
        self.local_requests = 0
        self._divisor = max(1, self.gateways())
        self._rates = {account.identity: account.rates() for account in self._limiter.accounts}
        if self.on_loss == "degrade":
            self._limiter.divide(self._divisor)
            self._unloaded.update(account.identity for account in self._limiter.accounts)
        self._limiter.is_open = self.on_loss == "open"

    def came_back(self) -> None:
        """Report what happened meanwhile, before any further request is checked."""
        now = self._limiter.now()
        for account in self._limiter.accounts:
            before = self._rates.get(account.identity, (0, 0))
            debts = [
                max(0, max(after, now) - max(then, now)) // self._divisor // MICRO
                for then, after in zip(before, account.rates(), strict=True)
            ]
            if any(debts):
                for client in self._clients.values():
                    if account in client.accounts:
                        key = client.keys[client.accounts.index(account)][0]
                        self._link.call(run_script("debt", [key, f"{key}:debt:{self._node}"], *debts))
                        break
        self._rates = {}
        self.renew()
        self.report_ended()
        # A part of a budget stays as it is until the shared state says what all gateways have spent meanwhile.
        self._limiter.divide(1, keeps_budgets=True)
        self._limiter.is_open = False

    def take_spent(self, spent: Mapping[bytes, Spent]) -> None:
        raise_spent(self._limiter, spent, self._divisor)


def _away() -> Overloaded:
    return Overloaded("The limits of all gateways cannot be asked now", code="state_away", retry_after=2)
