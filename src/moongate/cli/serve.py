"""`moongate serve`: the gateway, with a configuration or with the simulator as its provider."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from moongate.cli.check import warnings
from moongate.cli.locate import add_config_option, located
from moongate.cli.terminal import Paint, warn
from moongate.errors import ConfigError
from moongate.gateway.bounds import Bounds
from moongate.gateway.client_key import FILE, home, own_key
from moongate.gateway.config.load import Config, check_exposure, read_config
from moongate.gateway.config.settings import ClientKey, Limits, Timeouts
from moongate.gateway.server import serve
from moongate.gateway.service import Keys, Recipe, Service

if TYPE_CHECKING:
    from moongate.cli.demo import Demo


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    parser.add_argument("--host", help="the address to listen on (default: as configured, else 127.0.0.1)")
    parser.add_argument("--port", type=int, help="the port to listen on, 0 for any (default: as configured, else 3000)")
    parser.add_argument("--workers", type=int, help="worker processes (default: as configured, else 1)")
    parser.add_argument("--log-bodies", action="store_true", help="log prompts and answers too: for hunting a fault")


def run(options: argparse.Namespace) -> int:
    path = located(options.config)
    demo = _demo() if path is None else None

    def read() -> Config:
        config = read_config(path) if path is not None else demo.config()  # type: ignore[union-attr]
        return overridden(config, options)

    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the server listens to it: what it would ask for is being done
    if demo is not None:
        demo.start()
    folder = Path(tempfile.mkdtemp(prefix="moongate-"))
    try:
        config = read()
        recipe = Recipe(read, client_keys, config, folder if config.settings.workers > 1 else None)
        return _serve(recipe, config, is_demo=demo is not None)
    except OSError as error:
        print(f"moongate: cannot listen: {error.strerror or error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if demo is not None:
            demo.stop()


def _demo() -> Demo:
    from moongate.cli.demo import Demo  # the simulator is imported only where it plays

    return Demo()


def overridden(config: Config, options: argparse.Namespace) -> Config:
    """What the command line says wins over the file."""
    settings = config.settings
    changes = {name: value for name in ("host", "port", "workers") if (value := getattr(options, name)) is not None}
    for name, least, most in (("port", 0, 65_535), ("workers", 1, 64)):
        if not least <= changes.get(name, least) <= most:
            raise ConfigError(f"expected {least} … {most}, found {changes[name]}", path=f"--{name}")
    if options.log_bodies:
        changes["log"] = replace(settings.log, bodies=True)
    if not changes:
        return config
    config = replace(config, settings=replace(settings, **changes))
    check_exposure(config, config.settings.host)
    return config


def client_keys(config: Config) -> Keys:
    """The keys that clients need; if none is configured, the one of this machine."""
    if config.client_keys != ():
        return config.client_keys
    return (ClientKey(key=own_key(home())[0], name="own"),)


def _serve(recipe: Recipe, config: Config, *, is_demo: bool) -> int:
    settings = config.settings
    made = config.client_keys == () and own_key(home())[1]
    for text in warnings(config):
        warn(text)
    service = Service(recipe) if settings.workers == 1 else None

    def make(worker: int) -> Service:
        return service or Service(recipe, worker)

    return serve(
        make,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        bounds=bounds(settings.timeouts, settings.limits),
        drain=settings.timeouts.drain,
        announce=lambda port: greet(config, port, show_key=made or is_demo, is_demo=is_demo),
    )


def bounds(timeouts: Timeouts, limits: Limits) -> Bounds:
    return Bounds(
        head=timeouts.client_head,
        body=timeouts.client_body,
        unread=timeouts.client_unread,
        idle=timeouts.idle,
        max_head=limits.request_head,
        max_body=limits.request_body + 1024,  # the application refuses first, in the words of its front
    )


def greet(config: Config, port: int, *, show_key: bool, is_demo: bool) -> None:
    """Where it is, what the key is, and a line to try it with."""
    paint = Paint()
    host = config.settings.host
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    print(f"{paint('moongate', 'bold')} listens on {paint(url, 'cyan')}")
    key = "any text"
    if config.client_keys:
        key = "YOUR_CLIENT_KEY"
        print("client key: one of your 'api_keys'")
    elif config.client_keys is not None:
        key = own_key(home())[0] if show_key else f"$(cat {home() / FILE})"
        print(f"client key: {key if show_key else f'in {home() / FILE}'}")
    if is_demo:
        print("provider: the built-in simulator (no config.json here; 'moongate init' writes one)")
    source = config.sources[0]
    model = f"{source.name},{source.models[0].name}"
    body = f'{{"model": "{model}", "messages": [{{"role": "user", "content": "Hello"}}]}}'
    print("try it:")
    print(f"  curl {url}/v1/chat/completions -H 'Content-Type: application/json' \\")
    print(f'    -H "Authorization: Bearer {key}" \\')
    print(f"    -d '{body}'", flush=True)
