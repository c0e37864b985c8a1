"""`moongate connect`: the settings that a coding agent needs, for the configuration at hand."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from moongate.cli.agents import AGENTS, Gate, Settings, merged
from moongate.cli.init import write_new
from moongate.cli.locate import add_config_option, located
from moongate.cli.terminal import Paint
from moongate.errors import ConfigError, GatewayError
from moongate.gateway.client_key import FILE, home, own_key
from moongate.gateway.config.jsonc import parse
from moongate.gateway.config.load import Config, read_config
from moongate.gateway.config.schema import indented
from moongate.gateway.routing import Routes

PLACEHOLDER = "YOUR_CLIENT_KEY"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", choices=AGENTS, help="the agent")
    add_config_option(parser)
    parser.add_argument("--model", help="the model it shall use (default: the default, else the first one)")
    parser.add_argument("--url", help="the gateway's address as the agent sees it (default: as configured)")
    parser.add_argument("--write", action="store_true", help="write the settings into the agent's own file")
    parser.add_argument("--file", type=Path, help="that file, if it is not the usual one")
    parser.add_argument("--show-key", action="store_true", help="show the client key instead of where it is")


def run(options: argparse.Namespace) -> int:
    path = located(options.config)
    config = read_config(path) if path is not None else None
    key = _key(config) if options.write or options.show_key else PLACEHOLDER
    gate = Gate(options.url.rstrip("/") if options.url else _address(config), key, _model(config, options.model))
    settings = AGENTS[options.agent](gate)
    if options.write:
        return _write(settings, options.file)
    _show(settings, options.file, config)
    return 0


def _address(config: Config | None) -> str:
    host, port = (config.settings.host, config.settings.port) if config is not None else ("127.0.0.1", 3000)
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{host}:{port}"


def _key(config: Config | None) -> str:
    if config is not None and config.client_keys is None:
        return "none"
    if config is not None and config.client_keys:
        return config.client_keys[0].key
    return own_key(home())[0]


def _model(config: Config | None, asked: str | None) -> str:
    if config is None:
        return asked or "kimi-k2-sim"
    routes = Routes(config)
    if asked:
        try:
            routes.find(asked)
        except GatewayError as error:
            raise ConfigError(error.message, path="--model") from None
        return asked
    return config.settings.default or routes.listed()[0][0]


def _show(settings: Settings, file: Path | None, config: Config | None) -> None:
    paint = Paint()
    print(paint(settings.about, "bold"))
    if settings.shell:
        print("\nin the shell:")
        print("\n".join(f"  export {name}={shlex.quote(value)}" for name, value in settings.shell))
    if settings.json is not None or settings.toml:
        print(f"\n{'or ' if settings.shell and settings.json else ''}in {file or settings.file} (--write does it):")
        text = indented(settings.json) if settings.json is not None else settings.toml
        print("\n".join(f"  {line}".rstrip() for line in text.split("\n")))
    for word in settings.words:
        print(f"  {word}")
    if settings.start:
        print(f"\nthen: {settings.start}")
    if config is None or config.client_keys == ():
        print(f"\n{PLACEHOLDER}: in {home() / FILE}")
    elif config.client_keys is not None:
        print(f"\n{PLACEHOLDER}: one of your 'api_keys'")


def _write(settings: Settings, given: Path | None) -> int:
    if settings.file is None:
        raise ConfigError(f"{settings.about} keeps its settings where they cannot be written: run this without --write")
    path = (given or settings.file).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if settings.json is not None:
        value = parse(old, str(path)).value if old.strip() else {}
        text = indented(merged(value, settings.json)) + "\n"
    else:
        if settings.toml.split("\n", 1)[0] in old:
            raise ConfigError("has a section for moongate already: change it there", path=str(path))
        text = (old.rstrip() + "\n\n" if old.strip() else "") + settings.toml + "\n"
    if old:
        write_new(path.with_name(path.name + ".before-moongate"), old, force=True)
    write_new(path, text, force=True)
    print(f"{Paint()('wrote', 'green')} {path}")
    for name, value in settings.shell if settings.json is None else ():
        print(f"set in the shell: export {name}={shlex.quote(value)}")
    if settings.start:
        print(f"then: {settings.start}")
    return 0
