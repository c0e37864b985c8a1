"""`moongate serve`: the gateway, with a configuration or with the simulator as its provider."""

from __future__ import annotations

import argparse
import shlex
import shutil
import signal
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moongate.cli.concerns import concerns
from moongate.cli.credential import client_credential
from moongate.cli.locate import DEFAULT, VARIABLE, add_config_option, located
from moongate.cli.terminal import Paint, command, warn
from moongate.errors import ConfigError
from moongate.gateway.bounds import Bounds
from moongate.gateway.client_key import home, own_key
from moongate.gateway.config.load import Config, check_exposure, read_config
from moongate.gateway.config.settings import ClientKey, Limits, Timeouts
from moongate.gateway.server import serve
from moongate.gateway.service import Keys, Recipe, Service
from moongate.payload import dumps_text

if TYPE_CHECKING:
    from moongate.cli.demo import Demo

MEMORY: Final = "/dev/shm"
EPILOG = f"""\
example:
  moongate serve --config config.json --port 3000

Without --config, ${VARIABLE} and ./{DEFAULT}, the built-in simulator answers.
exit codes: 0 ended as asked, 1 it failed, 2 the configuration or the command line is wrong"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    parser.add_argument(
        "--host", metavar="HOST", help="the address to listen on (default: as configured, else 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=int, metavar="PORT", help="the port, 0 for any free one (default: as configured, else 3000)"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="worker processes (default: as configured, else 1)")
    parser.add_argument("--log-bodies", action="store_true", help="log prompts and answers too: for hunting a fault")


def run(options: argparse.Namespace) -> int:
    path = located(options.config)
    demo = _demo() if path is None else None

    def read() -> Config:
        # There is a file or a demo.
        config = read_config(path) if path is not None else demo.config()  # type: ignore[union-attr]
        return overridden(config, options)

    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until the server listens to it: what it would ask for is being done
    if demo is not None:
        demo.start()
    folder: Path | None = None
    try:
        config = read()
        folder = shared_folder() if config.settings.workers > 1 else None
        recipe = Recipe(read, client_keys, config, folder)
        moved = options.host is not None or options.port is not None or config.settings.port == 0
        return _serve(recipe, config, is_demo=demo is not None, moved=moved)
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        if demo is not None:
            demo.stop()


def shared_folder() -> Path:
    """For the numbers that workers count together; gone at the end. Raises OSError."""
    try:
        return Path(tempfile.mkdtemp(prefix="moongate-"))
    except OSError:  # in a container with a read-only file system there is this place still
        return Path(tempfile.mkdtemp(prefix="moongate-", dir=MEMORY))


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


def _serve(recipe: Recipe, config: Config, *, is_demo: bool, moved: bool) -> int:
    settings = config.settings
    # A key that was made just now is shown to a person, not to whatever keeps a service's output.
    shown = is_demo or (config.client_keys == () and own_key(home())[1] and sys.stdout.isatty())
    for text in concerns(config):
        warn(text)
    service = Service(recipe) if settings.workers == 1 else None

    def make(worker: int) -> Service:
        return service or Service(recipe, worker)

    try:
        return serve(
            make,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            bounds=bounds(settings.timeouts, settings.limits),
            drain=settings.timeouts.drain,
            announce=lambda port: greet(config, port, show_key=shown, is_demo=is_demo, moved=moved),
        )
    except OSError as error:
        from moongate.cli.blame import cannot_listen  # only mistakes need it

        print(f"moongate: {cannot_listen(error, settings.host, settings.port)}", file=sys.stderr)
        return 1


def bounds(timeouts: Timeouts, limits: Limits) -> Bounds:
    return Bounds(
        head=timeouts.client_head,
        body=timeouts.client_body,
        unread=timeouts.client_unread,
        idle=timeouts.idle,
        max_head=limits.request_head,
        max_body=limits.request_body + 1024,  # the application refuses first, in the words of its front
    )


def greet(config: Config, port: int, *, show_key: bool, is_demo: bool, moved: bool) -> None:
    """Where it is, what the key is, and a line to try it with. `moved`: the file does not say where it is."""
    paint = Paint()
    host = config.settings.host
    print(f"{paint('moongate', 'bold')} listens on {paint(_url(host, port), 'cyan')}")
    url = _url({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port)
    credential = client_credential(config)
    key, where = credential.shell, credential.where
    if show_key and config.client_keys == ():
        key = where = own_key(home())[0]
    print(f"client key: {where}")
    if is_demo:
        print(f"provider: the built-in simulator (no {DEFAULT} here; '{command()} init' writes one)")
    flags = f" --config {shlex.quote(str(config.file))}" if config.file not in (None, DEFAULT) else ""
    flags += f" --url {url}" if moved else ""
    print(f"your agent: {command()} connect claude-code{flags} (or codex, opencode, kimi-code, …)")
    source = config.sources[0]
    model = dumps_text(f"{source.name},{source.models[0].name}")
    body = f'{{"model": {model}, "messages": [{{"role": "user", "content": "Hello"}}]}}'
    print("try it:")
    print(f"  curl {url}/v1/chat/completions -H 'Content-Type: application/json' \\")
    print(f'    -H "Authorization: Bearer {key}" \\')
    print(f"    -d {shlex.quote(body)}", flush=True)


def _url(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
