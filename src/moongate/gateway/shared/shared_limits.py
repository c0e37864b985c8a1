"""Limits that hold over all gateways: one script when a request begins, one when it has ended.

What the shared state answers is copied into the limits of this gateway (`Account.follow`), so that they are right at
the moment when it goes away. Then each gateway has a part of every limit (`on_loss: "degrade"`), and what it lets
through is told when the shared state is back, once.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Final

from moongate.errors import Overloaded
from moongate.gateway.limits.limit_set import Refusal
from moongate.gateway.limits.limiter import Admission, Limiter
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.shared.connection import PendingCall
from moongate.gateway.shared.entry import SharedRequest
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

LEASE_SECONDS: Final = 30  # after which a slot is free whose gateway does not renew it
MAX_UNTOLD: Final = 100_000  # ends that wait for the shared state to be back
MAX_CLIENTS: Final = 10_000  # whose commands are remembered
MICRO: Final = 1000  # nanoseconds
Load = Callable[[ClientCommands, int], None]  # what an account has spent, from the store, in the background
Untold = tuple[SharedRequest, int, int, int]  # tokens, money, when it ended in milliseconds


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
        self._clients: dict[tuple[bytes, ...], ClientCommands] = {}
        self._loaded: dict[bytes, int] = {}  # when each account was loaded
        self._open: dict[bytes, SharedRequest] = {}
        self._untold: deque[Untold] = deque()
        self._rates: dict[bytes, tuple[int, int]] = {}  # of the accounts, when the shared state went away
        self._unloaded: set[bytes] = set()  # accounts of which the shared state does not know what they have spent
        self.gateways: Callable[[], int] = lambda: 1  # how many there are
        self._divisor = 1
        self.alone = 0  # requests since the shared state went away

    async def begin(self, admission: Admission, tokens: int, prompt: int, cost: int | None) -> Refusal | None:
        """Ask all gateways' limits. Raises Overloaded if they cannot be asked and must be."""
        accounts = admission.accounts
        for account in accounts:
            if account.has_request_limits or account.has_cost_limits:
                break
        else:
            return None
        day = self._limiter.today()
        client = self._client(accounts)
        self._count += 1
        amounts = (tokens, prompt, -1 if cost is None else cost)
        data = client.begin(self._request_name % self._count, self.lease, *amounts, day)
        loaded = tuple([self._loaded.get(account.identity, 0) for account in accounts])
        entry = SharedRequest(self._request_name % self._count, client, amounts, loaded, self._end)
        if not self._link.is_up and self.on_loss == "closed":
            raise _away()
        admission.shared = entry
        if self._link.is_up:
            call = self._link.call(data)
            await call.wait()
            self._link.check(call)
            if not call.failed and isinstance(call.reply, list):
                return self._answered(call.reply, entry, admission, day)
            self._metrics.count("moongate_state_missed_total")
        if self.on_loss == "closed":
            raise _away()  # `release` takes it back, should it have been done
        self._go_alone(entry)
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
            if self._load is not None:
                self._load(client, day)
            self._go_alone(entry)
            return None
        admission.shared = None
        return refusal_of(reply, client.accounts, day)

    def _go_alone(self, entry: SharedRequest) -> None:
        """Nobody but this gateway knows of the request, until the shared state is back."""
        self.alone += 1
        self._open[entry.id] = entry
        self._metrics.count("moongate_state_alone_total")

    def _client(self, accounts: tuple[object, ...]) -> ClientCommands:
        key = tuple([account.identity for account in accounts])  # type: ignore[attr-defined]
        found = self._clients.get(key)
        if found is None:
            if len(self._clients) >= MAX_CLIENTS:
                self._clients.clear()
            found = self._clients[key] = ClientCommands(accounts, self._prefix)  # type: ignore[arg-type]
        return found

    def _end(self, entry: SharedRequest, tokens: int, cost: int) -> None:
        self._open.pop(entry.id, None)
        self._tell((entry, tokens, cost, int(time.time() * 1000)))

    def _tell(self, untold: Untold) -> None:
        entry, tokens, cost, ended = untold
        if not self._link.is_up:
            self._keep_untold(untold)
            return
        # The rate of one that was not registered is told as a debt: its tokens count in the budget alone.
        took = (entry.prompt if entry.registered else tokens, tokens, cost)
        data = entry.client.finish(
            entry.id, took, entry.loaded, entry.windows, unregistered=not entry.registered, ended=ended
        )

        def on_done(call: PendingCall) -> None:
            if call.failed:
                self._keep_untold(untold)
            elif isinstance(call.reply, ReplyError):  # it would be refused again
                self._metrics.count("moongate_state_untold_total")

        self._link.call(data, on_done)

    def _keep_untold(self, untold: Untold) -> None:
        if len(self._untold) >= MAX_UNTOLD:
            self._untold.popleft()
            self._metrics.count("moongate_state_untold_total")
        self._untold.append(untold)

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
        if self._untold:
            self.tell_untold()

    def tell_untold(self) -> None:
        """What ended while nobody could be told."""
        waiting, self._untold = self._untold, deque()
        for each in waiting:
            self._tell(each)

    def went_away(self) -> None:
        """From now on every gateway is alone, with its part of every limit."""
        self.alone = 0
        self._divisor = max(1, self.gateways())
        self._rates = {account.identity: account.rates() for account in self._limiter.accounts}
        if self.on_loss == "degrade":
            self._limiter.divide(self._divisor)
        self._limiter.is_open = self.on_loss == "open"

    def came_back(self) -> None:
        """Tell what happened meanwhile, before anything new is asked."""
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
        self.tell_untold()
        self._limiter.divide(1)
        self._limiter.is_open = False


def _away() -> Overloaded:
    return Overloaded("The limits of all gateways cannot be asked now", code="state_away", retry_after=2)
