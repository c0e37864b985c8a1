"""`moongate serve`: runs the gateway, with a configuration or with the simulator as its provider."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from moongate.cli.admin_listener import AdminListener, open_admin_listener, with_admin_key
from moongate.cli.banner import Banner
from moongate.cli.check import description
from moongate.cli.config_path import DEFAULT, VARIABLE, add_config_option, find_config
from moongate.cli.console import Console
from moongate.cli.running_gateways import GatewayRecord, RunningFile, client_url
from moongate.cli.shared_folder import shared_folder
from moongate.cli.terminal import warn
from moongate.cli.warnings import config_warnings
from moongate.errors import ConfigError
from moongate.gateway.config.load import Config, ReadOptions, check_exposure, is_loopback, read_config
from moongate.gateway.config.settings import ClientKey, Settings
from moongate.gateway.gateway_factory import GatewayFactory, Keys
from moongate.gateway.http.client_address import ClientAddresses
from moongate.gateway.http.client_key import ADMIN_FILE, own_key
from moongate.gateway.http.client_key import home as gateway_home
from moongate.gateway.record.messages import print_message
from moongate.gateway.routing.routes import Routes
from moongate.gateway.server.connection_limits import ConnectionLimits
from moongate.gateway.server.listening import addresses_of
from moongate.gateway.server.run import serve
from moongate.gateway.server.service_manager import ServiceManager
from moongate.gateway.server.workers import CAN_SUPERVISE, RELOAD
from moongate.gateway.service import Service, check_store
from moongate.gateway.trace.otel_environment import trace_settings

if TYPE_CHECKING:
    from moongate.cli.builtin_provider import BuiltInProvider

EPILOG = f"""\
example:
  moongate serve --config config.json --port 3000

Without --config, ${VARIABLE} and ./{DEFAULT}, the built-in simulator answers.
exit codes: 0 stopped by a signal, 1 failure, 2 the configuration or the command line is wrong"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    parser.add_argument(
        "--host", metavar="HOST", help="the address to listen on (default: as configured, else 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=int, metavar="PORT", help="the port, 0 for any free one (default: as configured, else 3000)"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="worker processes (default: as configured, else 1)")
    parser.add_argument("--log-bodies", action="store_true", help="log prompts and answers too, for debugging")


def run(options: argparse.Namespace, console: Console) -> int:
    path = find_config(options.config, console.environ)
    home = gateway_home(console.environ)
    manager = ServiceManager.from_environment(console.environ, os.getpid())
    demo = _demo() if path is None else None

    def read() -> Config:
        config = demo.config() if demo is not None else _read(path or DEFAULT, console.environ)
        return with_admin_key(overridden(config, options, manager), home)

    show_admin_key = sys.stderr.isatty() and not (home / ADMIN_FILE).exists()  # it is about to be made
    # Ignored until the server handles it: the configuration that a reload would read is about to be read.
    if RELOAD is not None:
        signal.signal(RELOAD, signal.SIG_IGN)
    if demo is not None:
        demo.start()
    folder: Path | None = None
    admin = AdminListener()
    try:
        config = read()
        folder = shared_folder() if config.settings.workers > 1 else None
        if folder is None and config.settings.workers > 1:
            options.workers = 1  # for reloads, too
            config = read()
        show_link = sys.stderr.isatty() or demo is not None  # but not in the log of a service
        admin = open_admin_listener(config, home, folder, show_key=show_admin_key, show_link=show_link)
        factory = GatewayFactory(
            *(read, lambda each: client_keys(each, home), config, folder, home, description),
            trace_settings(console.environ),
        )
        show_url = options.host is not None or options.port is not None or config.settings.port == 0
        texts = (admin.about, admin.problem, admin.pages)
        banner = Banner(home, demo is not None, show_url, False, *texts)
        return _serve(factory, config, banner, manager, admin)
    finally:
        admin.close()
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if demo is not None:
            demo.stop()


def _read(path: Path, environ: Mapping[str, str]) -> Config:
    return read_config(path, environ, ReadOptions(validate=Routes))


def _demo() -> BuiltInProvider:
    from moongate.cli.builtin_provider import BuiltInProvider  # a start with a configuration needs no simulator

    return BuiltInProvider()


def overridden(config: Config, options: argparse.Namespace, manager: ServiceManager | None = None) -> Config:
    """The configuration with the command line's settings, which win over the file's. Raises ConfigError.

    The address of sockets that the service manager listens on wins over both.
    """
    settings = config.settings
    changes = {name: value for name in ("host", "port", "workers") if (value := getattr(options, name)) is not None}
    for name, least, most in (("port", 0, 65_535), ("workers", 1, 64)):
        if not least <= changes.get(name, least) <= most:
            raise ConfigError(f"expected {least} … {most}, found {changes[name]}", path=f"--{name}")
    if manager is not None and manager.sockets:
        changes["host"], changes["port"] = most_exposed(addresses_of(manager.sockets))
    if options.log_bodies:
        changes["log"] = replace(settings.log, bodies=True)
    if not changes:
        return config
    config = replace(config, settings=replace(settings, **changes))
    check_exposure(config, config.settings.host)
    return config


def most_exposed(addresses: list[tuple[str, int]]) -> tuple[str, int]:
    """The address whose rules apply to all of them: one that other machines reach, if there is one."""
    return min(addresses, key=lambda address: is_loopback(address[0]))


def client_keys(config: Config, home: Path) -> Keys:
    """The keys that clients must send; if none is configured, the one that the gateway keeps in its folder."""
    if config.client_keys != ():
        return config.client_keys
    return (ClientKey(key=own_key(home)[0], name="own"),)


def _serve(
    factory: GatewayFactory, config: Config, banner: Banner, manager: ServiceManager, admin: AdminListener
) -> int:
    settings = config.settings
    # A key that was made just now is shown on a terminal, but not in the log of a service.
    if config.client_keys == () and own_key(banner.home)[1] and sys.stderr.isatty():
        banner = replace(banner, show_key=True)
    for text in config_warnings(config):
        warn(text)
    check_store(factory)
    running = RunningFile(banner.home)
    listening = False

    def make(worker: int) -> Service:
        return Service(factory, worker)

    def announce(port: int) -> None:
        nonlocal listening
        listening = True
        running.write(GatewayRecord(client_url(settings.host, port), config.file, admin.url))
        banner.print(config, port)

    try:
        return serve(
            make,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            supervised=CAN_SUPERVISE and not manager.has_watchdog,
            limits=connection_limits(settings),
            drain=settings.timeouts.drain,
            announce=announce,
            manager=manager,
            admin=admin.listener,
        )
    except OSError as error:
        print_message(_cannot_serve(error, settings, listening=listening))
        return 1
    finally:
        running.remove()


def _cannot_serve(error: OSError, settings: Settings, *, listening: bool) -> str:
    from moongate.cli.port_in_use import cannot_listen  # needed only here

    if not listening:
        return cannot_listen(error, settings.host, settings.port)
    at = f" ({error.filename})" if error.filename else ""
    return f"cannot serve: {error.strerror or type(error).__name__}{at}"


def connection_limits(settings: Settings) -> ConnectionLimits:
    """The limits of the server's connections, from the configuration."""
    timeouts, limits = settings.timeouts, settings.limits
    return ConnectionLimits(
        head=timeouts.client_head,
        body=timeouts.client_body,
        unread=timeouts.client_unread,
        idle=timeouts.idle,
        max_head=limits.request_head,
        per_address=limits.connections_per_address,
        is_exempt=ClientAddresses(settings.trusted_proxies).is_proxy,
        max_body=limits.request_body + 1024,  # the gateway rejects first, with an error in the client's format
    )
