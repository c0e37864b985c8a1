"""`moongate connect`: shows, writes or takes back the settings that a coding agent needs for this configuration."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from moongate.cli.agent_files import backup_of, format_of, undo_settings, write_settings
from moongate.cli.agent_settings import AgentSettings, GatewayAddress, context_window
from moongate.cli.agents import AGENTS
from moongate.cli.config_path import add_config_option
from moongate.cli.connect_target import find_target
from moongate.cli.console import Console
from moongate.cli.credential import (
    NO_KEY,
    PLACEHOLDER,
    Credential,
    client_credential,
    client_number,
    given_credential,
    given_key,
)
from moongate.cli.terminal import Colours
from moongate.errors import ConfigError
from moongate.gateway.config.load import Config
from moongate.gateway.config.schema import indented
from moongate.gateway.http.client_key import home as gateway_home
from moongate.gateway.http.client_key import own_key

MIN_WINDOW = 1024
EPILOG = """\
example:
  moongate connect claude-code --write

--write keeps the file's other settings and its first content; writing twice changes nothing. --undo takes the settings
out again. No provider's key is needed."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", choices=AGENTS, metavar="AGENT", help=f"one of {', '.join(AGENTS)}")
    add_config_option(parser)
    parser.add_argument(
        "--model", metavar="MODEL", help="the model to use (default: the configured default, else the first one)"
    )
    parser.add_argument(
        "--url",
        metavar="URL",
        help="the gateway's address as the agent sees it (default: where it runs, or as configured)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--client", metavar="NAME", help="use the client key of this name in 'api_keys'")
    which.add_argument(
        "--key",
        metavar="KEY",
        help="use this client key: '$VARIABLE', file:PATH, or the key that 'keys create' printed",
    )
    parser.add_argument(
        "--context-window", type=int, metavar="N", help="the tokens that the model takes (default: by its name)"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="write the settings into the agent's own file")
    what.add_argument("--undo", action="store_true", help="take the settings out of that file again")
    parser.add_argument("--file", type=Path, metavar="FILE", help="that file, if it is not the usual one")
    parser.add_argument("--show-key", action="store_true", help="show the client key instead of where it is")


def run(options: argparse.Namespace, console: Console) -> int:
    if options.undo:
        return _undo(options, console)
    home = gateway_home(console.environ)
    target = find_target(options, console, home)
    config = target.config
    credential = given_credential(options.key) if options.key else client_credential(config, home, options.client)
    window = _window(target.model, options.context_window)
    gateway = GatewayAddress(target.root, credential.plain, target.model, window)
    agent = AGENTS[options.agent]
    with_key = agent(replace(gateway, key=_key(config, home, options, console))) if _needs_key(options) else None
    shown = with_key if with_key is not None and options.show_key else agent(gateway)
    if options.write and with_key is not None:
        lines = _write(with_key, options.file, console)
    else:
        lines = _settings(shown, options.file, credential)
    if shown.start:
        lines += [*([] if options.write else [""]), f"then: {shown.start}"]
    print("\n".join(lines))
    if not options.show_key and not options.write and credential.plain != NO_KEY:
        label = PLACEHOLDER if any(PLACEHOLDER in line for line in lines) else "client key"
        print(f"\n{label}: {credential.where} (--show-key shows it)")
    if target.about:
        print(target.about)
    return 0


def _needs_key(options: argparse.Namespace) -> bool:
    return bool(options.write or options.show_key)


def _undo(options: argparse.Namespace, console: Console) -> int:
    settings = AGENTS[options.agent](GatewayAddress("", "", ""))
    path = _file(settings, options.file, console)
    changed = undo_settings(settings, path)
    print(f"took moongate's settings out of {path}" if changed else f"{path} has no settings of moongate's")
    return 0


def _key(config: Config | None, home: Path, options: argparse.Namespace, console: Console) -> str:
    if options.key:
        return given_key(options.key, console.environ)
    if config is not None and config.client_keys is None:
        return NO_KEY
    if config is not None and config.client_keys:
        return config.client_keys[client_number(config, options.client)].key
    return own_key(home)[0]


def _window(model: str, given: int | None) -> int:
    if given is None:
        return context_window(model)
    if given < MIN_WINDOW:
        raise ConfigError(f"expected {MIN_WINDOW} or more, found {given}", path="--context-window")
    return given


def _settings(settings: AgentSettings, file: Path | None, credential: Credential) -> list[str]:
    """What a person would write into the file, or into the shell."""
    lines = [Colours()(settings.about, "bold")]
    if settings.shell:
        lines += ["", "in the shell:", *(f"  {line}" for line in _exports(settings, credential))]
    if settings.values is not None and settings.file is not None:
        path = file or settings.file
        lines += ["", f"{'or ' if settings.shell else ''}in {path} (--write does it):"]
        lines += _indented(format_of(path).dump(settings.values))
        for name, value in settings.beside:
            lines += ["", f"and in {path.with_name(name)}:", *_indented(indented(value))]
    gap = [""] if settings.notes else []
    return [*lines, *gap, *(f"  {note}" for note in settings.notes)]


def _indented(text: str) -> list[str]:
    return [f"  {line}".rstrip() for line in text.rstrip().split("\n")]


def _exports(settings: AgentSettings, credential: Credential) -> list[str]:
    """Lines to paste. They do not hold the key: the shell fetches it."""
    key = f'"{credential.shell}"'
    return [f"export {name}={key if value == PLACEHOLDER else shlex.quote(value)}" for name, value in settings.shell]


def _file(settings: AgentSettings, given: Path | None, console: Console) -> Path:
    if settings.file is None:
        raise ConfigError(f"{settings.about} have no settings file: run this without --write and --undo")
    return console.expand(given or settings.file)


def _write(settings: AgentSettings, given: Path | None, console: Console) -> list[str]:
    path = _file(settings, given, console)
    changed, backup = write_settings(settings, path)
    if not changed:
        return [f"{path} has these settings already"]
    kept = f" (the previous content is in {backup_of(path).name})" if backup is not None else ""
    return [f"{Colours()('wrote', 'green')} {path}{kept}"]
