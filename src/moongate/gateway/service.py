"""One worker's gateway: built from a configuration, and rebuilt when that is reloaded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine, Sequence
from typing import Any, Final

from moongate.errors import ConfigError, NotFound
from moongate.gateway.admin.app import AdminApp, AdminSettings
from moongate.gateway.app import Gateway
from moongate.gateway.config.admin_settings import Admin
from moongate.gateway.config.load import file_stamp
from moongate.gateway.gateway_factory import GatewayFactory
from moongate.gateway.http.host_policy import HostPolicy
from moongate.gateway.inspect.worker_inspection import WorkerInspection
from moongate.gateway.limits.limiter import Limiter
from moongate.gateway.record.access_log import AccessLog, standard_output, style_for
from moongate.gateway.record.messages import WorkerMessages, print_message
from moongate.gateway.record.metrics import Metrics
from moongate.gateway.record.shared_counters import SharedCounters
from moongate.gateway.routing.memory import RoutingMemory
from moongate.gateway.server.request_cycle import RequestResponseCycle
from moongate.gateway.server.request_head import RequestHead
from moongate.gateway.server.response_writer import Receive, Scope, Send
from moongate.gateway.server.stall_watch import WARN_SECONDS
from moongate.gateway.shared.shared_state import nodes_page, open_shared_state
from moongate.gateway.state import GatewayState
from moongate.gateway.store.connect import open_database
from moongate.gateway.store.errors import StoreError
from moongate.gateway.store.worker_store import WorkerStore, store_place
from moongate.gateway.target_updater import TargetUpdater
from moongate.gateway.trace.tracer import Tracer
from moongate.gateway.ui.request import UiSources

WATCH_SECONDS: Final = 1.0
LEASE_SECONDS: Final = 10.0  # between looks for reservations whose lease is over


class Service:
    """One worker: the application, its reload and its shutdown. What `gateway.server.run.serve` runs."""

    def __init__(self, factory: GatewayFactory, worker: int = 0) -> None:
        config = factory.first
        descriptor = standard_output()
        metrics = Metrics(SharedCounters(factory.shared_folder, worker))
        self._messages = messages = WorkerMessages(factory.shared_folder, worker)
        self._inspection = WorkerInspection.of(config.settings, factory.shared_folder, worker, metrics)
        log = AccessLog(
            descriptor,
            style=style_for(config.settings.log.format, descriptor),
            dropped=metrics.count_dropped_lines,
            keep=None if self._inspection is None else self._inspection.ring.write,
            warn=messages.print,
        )
        self._stall_slot = metrics.counter("moongate_loop_stall_seconds", worker=str(worker))
        metrics.values[self._stall_slot] = 0  # of a worker that died
        self._stalls_slot = metrics.counter("moongate_loop_stalls_total", worker=str(worker))
        self._limiter = Limiter(factory.shared_folder, worker=worker, workers=config.settings.workers)
        self._store = _open_store(factory, self._limiter, worker, messages)
        memory = RoutingMemory(factory.shared_folder)
        self._shared = shared = open_shared_state(
            config.settings, self._limiter, metrics, worker=worker, store=self._store, warn=messages.print
        )
        state = GatewayState(config, factory.keys(config), metrics, None, self._limiter, self._store, memory, shared)
        self.gateway = Gateway(state, metrics, log)
        self.gateway.inspector = None if self._inspection is None else self._inspection.inspector
        if factory.traces is not None:
            self.gateway.tracer = Tracer(factory.traces, metrics, messages.print)
        self._factory = factory
        self._admin = self._admin_app()
        self._file_stamp = config.file_stamp  # not of the file now: it may have changed since it was read
        self._watch_timer: asyncio.TimerHandle | None = None
        self._lease_timer: asyncio.TimerHandle | None = None

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        if scope["type"] == "lifespan":
            if self.gateway.state.config.settings.watch:
                self._watch()
            self._expire_reservations()
            if self._inspection is not None:
                self._inspection.start()
            if self._shared is not None:
                self._shared.start(TargetUpdater(lambda: self.gateway.state.targets))
        return self.gateway.answer(scope, receive, send)

    def handle(
        self, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> Coroutine[Any, Any, None]:
        """The entry for our own server, without an ASGI scope."""
        return self.gateway.handle(head, body, length, writer)

    def handle_admin(
        self, head: RequestHead, body: bytes | None, length: int | None, writer: RequestResponseCycle
    ) -> Coroutine[Any, Any, None]:
        """The entry for requests to the admin listener."""
        if self._admin is None:
            raise NotFound("The admin listener is off")
        return self._admin.handle(head, body, length, writer)

    async def drain(self, seconds: float) -> None:
        await self.gateway.drain(seconds)

    def reload(self) -> None:
        """Switch to the new configuration, or keep the old one if the new one has an error."""
        gateway = self.gateway
        self._file_stamp = file_stamp(gateway.state.config.file)
        try:
            config = self._factory.read()
            state = GatewayState(config, self._factory.keys(config), gateway.metrics, gateway.state)
        except ConfigError as error:
            gateway.metrics.count("moongate_reloads_total", result="refused")
            self._messages.print(f"the configuration was not reloaded: {error}")
            return
        old = gateway.state.config.settings
        new = config.settings
        if (old.host, old.port, old.workers) != (new.host, new.port, new.workers):
            self._messages.print("host, port and workers change only with a restart")
        if old.state.values != new.state.values:
            self._messages.print("the shared state changes only with a restart")
        if _address(old.admin) != _address(new.admin):
            self._messages.print("the address of the admin listener changes only with a restart")
        state.inherit(gateway.state)
        gateway.replace(state)
        settings = _admin_settings(state)
        if self._admin is not None and settings is not None:
            self._admin.settings = settings
        gateway.metrics.count("moongate_reloads_total", result="ok")
        self._messages.print("the configuration was reloaded")

    def running_requests(self, task: object) -> Sequence[str]:
        """The ids of the requests that are worked on now, for the stall watch. Called in a thread."""
        return self.gateway.running_requests(task)

    def record_stall(self, seconds: float, requests: Sequence[str]) -> None:
        """The loop was blocked for so long; `requests` are known of a long stall only."""
        values, slot = self.gateway.metrics.values, self._stall_slot
        values[slot] = max(values[slot], int(seconds * 1e6))
        values[self._stalls_slot] += 1
        if seconds >= WARN_SECONDS:
            culprit = f"by request {' or '.join(requests)}" if requests else "by no known request; is the machine busy?"
            print_message(f"the event loop was blocked for {seconds * 1e3:.0f} ms {culprit}")

    def close(self) -> None:
        for timer in (self._watch_timer, self._lease_timer):
            if timer is not None:
                timer.cancel()
        if self._admin is not None:
            self._admin.close()
        if self._inspection is not None:
            self._inspection.heartbeat.stop()
        self.gateway.close()
        if self._shared is not None:
            self._shared.close()
        if self._store is not None:
            self._store.close()
        self._limiter.close()

    def _expire_reservations(self) -> None:
        if self._store is not None:
            self._store.expire_reservations()
            self._lease_timer = asyncio.get_running_loop().call_later(LEASE_SECONDS, self._expire_reservations)

    def _admin_app(self) -> AdminApp | None:
        settings = _admin_settings(self.gateway.state)
        if settings is None:
            return None
        factory = self._factory
        place = store_place(factory.first.settings.store, factory.home) if factory.home is not None else None
        gateway = self.gateway
        store_url = None if place is None else place[0]
        return AdminApp(
            *(settings, gateway.metrics, gateway.log, store_url),
            explain=lambda name: gateway.state.explain(name),
            ui=self._ui_sources(),
            nodes=lambda: nodes_page(self._shared),
        )

    def _ui_sources(self) -> UiSources | None:
        """None: the pages are off."""
        gateway, factory, found = self.gateway, self._factory, self._inspection
        if found is None:
            return None
        source = (found.recent, found.inspector, lambda: gateway.state, gateway.metrics)
        more = (factory.describe, factory.shared_folder, factory.home)
        return UiSources(*source, *more, lambda: nodes_page(self._shared))

    def _watch(self) -> None:
        """Poll the file: cheap, and works on every file system."""
        file = self.gateway.state.config.file
        if file is None:
            return
        # The timer is set first: a reload that fails must not end the watch.
        self._watch_timer = asyncio.get_running_loop().call_later(WATCH_SECONDS, self._watch)
        if file_stamp(file) != self._file_stamp:
            self.reload()


def check_store(factory: GatewayFactory) -> None:
    """Before workers are started: raises ConfigError if the store must be usable and is not."""
    settings = factory.first.settings.store
    place = store_place(settings, factory.home) if factory.home is not None else None
    if place is not None and settings.strict:
        try:
            open_database(place[0]).close()
        except StoreError as error:
            raise ConfigError(f"{error} ('strict' forbids to serve without it)", path="store") from None


def _open_store(factory: GatewayFactory, limiter: Limiter, worker: int, messages: WorkerMessages) -> WorkerStore | None:
    """The store, or None if it is off or cannot be used, which is reported. Raises StoreError if it must be usable."""
    settings = factory.first.settings
    place = store_place(settings.store, factory.home) if factory.home is not None else None
    if place is None:
        return None
    slots, timeouts = settings.limits.in_flight, settings.timeouts
    longest = max(timeouts.stream, timeouts.whole)
    try:
        store = WorkerStore(
            place, settings.store, limiter, worker=worker, slots=slots, longest=longest, warn=messages.print
        )
    except StoreError as error:
        if settings.store.strict:
            raise
        messages.print(f"{error}; keys and usage are not stored")
        return None
    store.start()
    return store


def _admin_settings(state: GatewayState) -> AdminSettings | None:
    """None: there is no admin listener."""
    settings = state.config.settings
    admin = settings.admin
    if admin is None or not admin.key:
        return None
    return AdminSettings(admin.key, HostPolicy(admin.host, settings.allowed_hosts), state.redactor)


def _address(admin: Admin | None) -> tuple[str, int] | None:
    return None if admin is None else (admin.host, admin.port)
