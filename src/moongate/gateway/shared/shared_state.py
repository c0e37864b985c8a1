"""The shared state of one worker: the link, limits over all gateways, the nodes, and what was learned of targets."""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Protocol

from moongate.gateway.config.settings import Settings
from moongate.gateway.config.state_settings import State
from moongate.gateway.http.pages import own_version
from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.shared.address import parse_address
from moongate.gateway.shared.budget_parts import lower_parts
from moongate.gateway.shared.link import StateLink
from moongate.gateway.shared.nodes import Nodes
from moongate.gateway.shared.resp import command
from moongate.gateway.shared.script import SCRIPT, ClientCommands, run_script
from moongate.gateway.shared.shared_limits import SharedLimits
from moongate.gateway.shared.signals import SignalReceiver, TargetSignals
from moongate.gateway.store.errors import StoreError
from moongate.gateway.store.snapshot import Spent
from moongate.payload import JsonObject

BEAT_SECONDS: Final = 1.0
RENEWALS: Final = 3  # within a lease
LOAD_SECONDS: Final = 2.0  # that a request waits until an account is loaded
PROBE_MILLISECONDS: Final = 1000  # that what a probe has written stays there
DIVIDING_LOOKS: Final = 2  # at what was spent, after the shared state went away
JOURNAL_SECONDS: Final = 1.0  # in which what other gateways have journalled reaches the store
AWAY: Final = {
    "degrade": "every gateway has its part of the limits",
    "open": "no limits hold",
    "closed": "requests with limits are refused",
}


class SpentReader(Protocol):
    """The store, for budgets."""

    def read_spent(self, identity: bytes) -> Spent | None:
        """What a key or team has spent in the window of its budget. In a thread. Raises StoreError."""

    def read_all_spent(self) -> Mapping[bytes, Spent]:
        """The same of all that have a budget."""


class SharedState:
    """`start` when the loop runs, `close` at the end."""

    def __init__(
        self,
        settings: State,
        limiter: Limiter,
        metrics: Metrics,
        *,
        worker: int,
        describe: Callable[[], JsonObject],
        store: SpentReader | None,
        warn: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._metrics = metrics
        self._limiter = limiter
        self._store = store
        self._warn = warn
        self.node = settings.node or socket.gethostname()
        self._link = self._new_link()
        self.limits = SharedLimits(
            *(self._link, limiter, metrics),
            prefix=settings.prefix,
            node=self.node,
            worker_id=secrets.token_hex(6),
            on_loss=settings.on_loss,
            load=self._load,
            lease=settings.lease,
        )
        self.nodes = Nodes(self._link, settings.prefix, self.node, describe)
        self.limits.gateways = lambda: self.nodes.alive
        self.signals = TargetSignals(f"{self.node}/{worker}", reads_worths=worker == 0)
        self._away_slot = metrics.counter("moongate_state_away")
        metrics.values[self._away_slot] = 0
        self._away_since: float | None = None
        self._back_since = time.monotonic()  # or since the start
        self._store_failed = -math.inf
        self._beats = 0
        self._timer: asyncio.TimerHandle | None = None
        self._loading: dict[bytes, asyncio.Task[None]] = {}
        self._reading: asyncio.Task[None] | None = None  # what all have spent, since the shared state is away

    def _new_link(self) -> StateLink:
        settings = self._settings
        return StateLink(
            *(parse_address(settings.url), SCRIPT),
            deadline=settings.deadline,
            ca_file=settings.ca_file,
            probe=command("SET", f"{settings.prefix}:{{probe}}", 1, "PX", PROBE_MILLISECONDS),
            on_up=self._up,
            on_down=self._down,
        )

    @property
    def is_up(self) -> bool:
        return self._link.is_up

    def start(self, receiver: SignalReceiver) -> None:
        self.signals.connect(self._link, self._settings.prefix, receiver)
        self._link.start()
        self._beat()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in (*self._loading.values(), self._reading):
            if task is not None:
                task.cancel()
        self._link.close()

    def lines(self) -> Iterator[str]:
        """For the metrics: what each worker would count for itself, once."""
        yield "# HELP moongate_nodes Gateways that share the state, as this one knows."
        yield "# TYPE moongate_nodes gauge"
        yield f"moongate_nodes {self.nodes.alive}"

    def _beat(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beat)
        if self._link.is_up:
            self.nodes.beat()
            self.signals.exchange(time.time())
            self._beats += 1
            if self._beats % max(1, self._settings.lease // RENEWALS) == 0:
                self.limits.renew()

    def _up(self) -> None:
        self._metrics.values[self._away_slot] = 0
        self.limits.came_back()
        self.nodes.beat()
        if self._away_since is not None:
            self._back_since = time.monotonic()
            seconds = self._back_since - self._away_since
            self._away_since = None
            began = self.limits.local_requests
            self._warn(
                f"the shared state {self._link.address} is back after {seconds:.0f} s; "
                f"{began} requests that began meanwhile are reported"
            )

    def _down(self, reason: str) -> None:
        """Warns once, however many reconnects fail meanwhile."""
        if self._away_since is not None:
            return
        self._away_since = time.monotonic()
        self._metrics.values[self._away_slot] = 1
        self._metrics.count("moongate_state_losses_total")
        self.limits.went_away()
        if self._reading is not None:
            self._reading.cancel()
        if self._store is not None and self._settings.on_loss == "degrade":
            self._reading = asyncio.get_running_loop().create_task(self._read_all(self._store))
        until = AWAY[self._settings.on_loss]
        part = f" ({self.nodes.alive} gateways)" if self._settings.on_loss == "degrade" else ""
        self._warn(f"the shared state {self._link.address} is away: {reason}; until it is back, {until}{part}")

    async def _load(self, client: ClientCommands) -> None:
        """The shared state does not know what an account has spent: ask the store. Requests wait for it, because what
        they spend meanwhile might be missing in both; not if the store has just failed."""
        if self._store is None:
            return
        for account, keys in zip(client.accounts, client.keys, strict=True):
            if account.has_budget and account.identity not in self._loading:
                read = self._read(account.identity, keys[0], account.limits.reset)
                self._loading[account.identity] = asyncio.get_running_loop().create_task(read)
        waiting = [self._loading[each.identity] for each in client.accounts if each.identity in self._loading]
        if waiting and time.monotonic() > self._store_failed + LOAD_SECONDS:
            await asyncio.wait(waiting, timeout=LOAD_SECONDS)

    async def _read_all(self, store: SpentReader) -> None:
        """A part of a budget is a part of what is left: the last answer of the shared state may be old. Twice, because
        what other gateways have just spent reaches the store a moment later. From then on parts only get smaller."""
        looks = 0
        while not self.is_up:
            with contextlib.suppress(StoreError):  # the store reports that itself
                spent = await asyncio.to_thread(store.read_all_spent)
                if self.is_up:
                    break
                if looks < DIVIDING_LOOKS:
                    self.limits.take_spent(spent)
                else:
                    lower_parts(self._limiter, spent)
            looks += 1
            await asyncio.sleep(JOURNAL_SECONDS)

    async def _read(self, identity: bytes, key: str, period: str) -> None:
        assert self._store is not None
        try:
            if time.monotonic() < self._back_since + 2 * LOAD_SECONDS:
                await asyncio.sleep(JOURNAL_SECONDS)
            read_at = int(time.time() * 1000)
            spent = await asyncio.to_thread(self._store.read_spent, identity)
            if spent is not None:
                values = (period, spent.window_start, spent.money, spent.tokens, read_at)
                await self._link.call(run_script("load", [key], *values)).wait()
                self.limits.renew()  # requests that began before it was loaded
        except StoreError:  # the store reports that itself; the next request tries again
            self._store_failed = time.monotonic()
        finally:
            self._loading.pop(identity, None)


def nodes_page(shared: SharedState | None) -> JsonObject:
    """`/admin/v1/nodes`: the gateways as last known, and whether this one reaches the shared state."""
    if shared is None:
        return {"object": "list", "data": [], "shared": None, "has_more": False}
    return {"object": "list", "data": shared.nodes.known, "shared": shared.is_up, "has_more": False}


def open_shared_state(
    settings: Settings,
    limiter: Limiter,
    metrics: Metrics,
    *,
    worker: int,
    store: SpentReader | None,
    warn: Callable[[str], None],
) -> SharedState | None:
    """None: no shared state is configured."""
    if not settings.state.url:
        return None
    address = f"{settings.host}:{settings.port}"
    about: JsonObject = {"workers": settings.workers, "address": address, "started": int(time.time())}
    about["version"] = own_version()
    return SharedState(settings.state, limiter, metrics, worker=worker, describe=lambda: about, store=store, warn=warn)
