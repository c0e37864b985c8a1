"""Which gateway `moongate connect` is about: its address, its configuration and its models.

It is the one of the configuration that is named or lies in this folder, at the address at which it runs. Without a
configuration it is the one that runs on this machine, else the one at `--url`, which is asked for its models.
"""

from __future__ import annotations

import argparse
import http.client
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate.cli.config_path import DEFAULT, find_config
from moongate.cli.console import Console
from moongate.cli.credential import given_key
from moongate.cli.running_gateways import GatewayRecord, client_url, running_gateways
from moongate.cli.terminal import warn
from moongate.errors import ConfigError
from moongate.gateway.config.load import Config, ReadOptions, read_config
from moongate.gateway.config.places import suggest
from moongate.gateway.http.client_key import FILE
from moongate.gateway.routing.routes import Routes
from moongate.payload import object_of

TIMEOUT: Final = 5.0  # seconds, for a gateway elsewhere to list its models
MAX_BYTES: Final = 4 * 1024 * 1024  # of that list
USUAL_URL: Final = "http://127.0.0.1:3000"
ANY_URL: Final = "http://127.0.0.1:9"  # the simulator's address is not needed to know its models


@dataclass(frozen=True, slots=True)
class ConnectTarget:
    """`config` is None for a gateway elsewhere. `about` says how it was found, if nobody named it."""

    root: str
    model: str
    config: Config | None
    about: str = ""


def find_target(options: argparse.Namespace, console: Console, home: Path) -> ConnectTarget:
    """Raises ConfigError if it is not clear which gateway is meant, or if that one does not have the model."""
    path = find_config(options.config, console.environ)
    url = _checked_url(options.url) if options.url else ""
    running = running_gateways(home)
    if path is not None:
        config = _read(path, console)
        return ConnectTarget(url or _address(config, path, running), model_of(config, options.model), config)
    found = _only(running, url)
    if found is None and url:
        return ConnectTarget(url, _model_elsewhere(url, options, console, home), None)
    if found is None:
        if options.write:
            raise ConfigError(
                f"no gateway is running, and there is no {DEFAULT} here: start it first, or run this where its "
                "configuration is, or name that with --config, or the gateway with --url"
            )
        found = GatewayRecord(USUAL_URL, None)
        about = f"no {DEFAULT} here and no gateway running, so this is for one with the built-in simulator"
    else:
        about = f"for the gateway that is running: {found.about}"
    config = _simulated() if found.config is None else _read(found.config, console)
    return ConnectTarget(found.url, model_of(config, options.model), config, about)


def model_of(config: Config, requested: str | None) -> str:
    """The name that the agent asks for. One that only `default` would answer is refused: it may be a slip."""
    routes = Routes(config)
    if not requested:
        return config.settings.default or routes.listed()[0][0]
    if routes.named(requested) is None:
        raise ConfigError(routes.not_found(requested).message, path="--model")
    return requested


def _checked_url(given: str) -> str:
    try:
        parts = urllib.parse.urlsplit(given)
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return given.rstrip("/")
    except ValueError:  # the port is not a number
        pass
    raise ConfigError(f"expected a URL such as {USUAL_URL}", path="--url")


def _read(path: Path, console: Console) -> Config:
    return read_config(path, console.environ, ReadOptions(provider_keys=False, validate=Routes))


def _simulated() -> Config:
    from moongate.cli.builtin_provider import simulator_config  # with a configuration the simulator is not needed

    return simulator_config(ANY_URL)


def _address(config: Config, path: Path, running: list[GatewayRecord]) -> str:
    """Where the gateway of this configuration runs, else where it would."""
    file = path.resolve()
    for each in running:
        if each.config is not None and each.config.resolve() == file:
            return each.url
    if config.settings.port == 0:
        raise ConfigError("the configuration takes any free port: give the address that 'serve' prints", path="--url")
    return client_url(config.settings.host, config.settings.port)


def _only(running: list[GatewayRecord], url: str) -> GatewayRecord | None:
    found = [each for each in running if not url or each.url == url]
    if len(found) > 1:
        known = ", ".join(each.about for each in found)
        raise ConfigError(f"several gateways are running, choose one: {known}", path="--url")
    return found[0] if found else None


def _model_elsewhere(url: str, options: argparse.Namespace, console: Console, home: Path) -> str:
    names = _listed(url, _some_key(options, console, home))
    if names is None:
        if not options.model:
            raise ConfigError(
                f"no gateway answers at {url}: start it first, or name a model with --model", path="--url"
            )
        warn(f"no gateway answers at {url}, so it is not known whether it has the model {options.model!r}")
        return str(options.model)
    if not options.model and not names:
        raise ConfigError(f"the gateway at {url} lists no models: name one with --model", path="--url")
    if options.model and options.model not in names:
        hint = suggest(options.model, names)
        raise ConfigError(f"the gateway at {url} does not list {options.model!r}{hint}", path="--model")
    return options.model or names[0]


def _some_key(options: argparse.Namespace, console: Console, home: Path) -> str:
    if options.key:
        return given_key(options.key, console.environ)
    try:
        return (home / FILE).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _listed(url: str, key: str) -> list[str] | None:
    """The models that a gateway lists for this key; None if there is none at this address."""
    request = urllib.request.Request(f"{url}/v1/models", headers={"authorization": f"Bearer {key}"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=TIMEOUT) as answer:
            found = object_of(answer.read(MAX_BYTES))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code in (401, 403):
            raise ConfigError(f"the gateway at {url} refuses this client key: give its key", path="--key") from None
        return None
    except (OSError, http.client.HTTPException):
        return None
    rows = found.get("data") if found is not None else None
    if not isinstance(rows, list):
        return None
    return [row["id"] for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
