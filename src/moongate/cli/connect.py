"""`moongate connect`: the settings that a coding agent needs, for the configuration at hand."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from moongate.cli.agents import AGENTS, Gate, Settings, merged
from moongate.cli.credential import NO_KEY, PLACEHOLDER, Credential, client_credential
from moongate.cli.init import write_new
from moongate.cli.locate import DEFAULT, add_config_option, located
from moongate.cli.terminal import Paint
from moongate.errors import ConfigError, GatewayError
from moongate.gateway.client_key import home, own_key
from moongate.gateway.config.jsonc import parse
from moongate.gateway.config.load import Config, read_config
from moongate.gateway.config.schema import indented
from moongate.gateway.routing import Routes

SIMULATED = "kimi-k2-sim"  # the first model of a gateway without a configuration
EPILOG = """\
example:
  moongate connect claude-code --write"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("agent", choices=AGENTS, metavar="AGENT", help=f"one of {', '.join(AGENTS)}")
    add_config_option(parser)
    parser.add_argument(
        "--model", metavar="MODEL", help="the model it shall use (default: the default, else the first one)"
    )
    parser.add_argument(
        "--url", metavar="URL", help="the gateway's address as the agent sees it (default: as configured)"
    )
    parser.add_argument("--write", action="store_true", help="write the settings into the agent's own file")
    parser.add_argument("--file", type=Path, metavar="FILE", help="that file, if it is not the usual one")
    parser.add_argument("--show-key", action="store_true", help="show the client key instead of where it is")


def run(options: argparse.Namespace) -> int:
    path = located(options.config)
    config = read_config(path) if path is not None else None
    credential = client_credential(config)
    root = options.url.rstrip("/") if options.url else _address(config)
    gate = Gate(root, credential.plain, _model(config, options.model))
    agent = AGENTS[options.agent]
    shown = agent(replace(gate, key=_key(config)) if options.show_key else gate)
    if options.write:
        lines = _write(agent(replace(gate, key=_key(config))), options.file)
        lines += [f"set in the shell: {line}" for line in (_exports(shown, credential) if shown.json is None else ())]
    else:
        lines = _settings(shown, options.file, credential)
    if shown.start:
        lines += [*([] if options.write else [""]), f"then: {shown.start}"]
    print("\n".join(lines))
    if not options.show_key and credential.plain != NO_KEY:
        label = PLACEHOLDER if any(PLACEHOLDER in line for line in lines) else "client key"
        print(f"\n{label}: {credential.where} (--show-key shows it)")
    if config is None:
        print(f"no {DEFAULT} here, so this is for a gateway with the built-in simulator")
    return 0


def _address(config: Config | None) -> str:
    if config is not None and config.settings.port == 0:
        raise ConfigError("the configuration takes any free port: give the address that 'serve' prints", path="--url")
    host, port = (config.settings.host, config.settings.port) if config is not None else ("127.0.0.1", 3000)
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{host}:{port}"


def _key(config: Config | None) -> str:
    if config is not None and config.client_keys is None:
        return NO_KEY
    if config is not None and config.client_keys:
        return config.client_keys[0].key
    return own_key(home())[0]


def _model(config: Config | None, asked: str | None) -> str:
    if config is None:
        return asked or SIMULATED
    routes = Routes(config)
    if asked:
        try:
            routes.find(asked)
        except GatewayError as error:
            raise ConfigError(error.message, path="--model") from None
        return asked
    return config.settings.default or routes.listed()[0][0]


def _settings(settings: Settings, file: Path | None, credential: Credential) -> list[str]:
    lines = [Paint()(settings.about, "bold")]
    if settings.shell:
        lines += ["", "in the shell:", *(f"  {line}" for line in _exports(settings, credential))]
    if settings.json is not None or settings.toml:
        lines += [
            "",
            f"{'or ' if settings.shell and settings.json else ''}in {file or settings.file} (--write does it):",
        ]
        text = indented(settings.json) if settings.json is not None else settings.toml
        lines += [f"  {line}".rstrip() for line in text.split("\n")]
    gap = [""] if settings.shell and settings.words else []
    return [*lines, *gap, *(f"  {word}" for word in settings.words)]


def _exports(settings: Settings, credential: Credential) -> list[str]:
    """Lines to paste: a shell can fetch the key by itself."""
    key = f'"{credential.shell}"'
    return [f"export {name}={key if value == PLACEHOLDER else shlex.quote(value)}" for name, value in settings.shell]


def _write(settings: Settings, given: Path | None) -> list[str]:
    if settings.file is None:
        raise ConfigError(f"{settings.about} keeps its settings where they cannot be written: run this without --write")
    path = (given or settings.file).expanduser()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError(f"cannot be changed: {reason}", path=str(path)) from None
    if settings.json is not None:
        value = parse(old, str(path)).value if old.strip() else {}
        text = indented(merged(value, settings.json)) + "\n"
    else:
        if settings.toml.split("\n", 1)[0] in old:
            raise ConfigError("has a section for moongate already: change it there", path=str(path))
        text = (old.rstrip() + "\n\n" if old.strip() else "") + settings.toml + "\n"
    kept = path.with_name(path.name + ".before-moongate")
    if old and not kept.exists():  # what stood there before the first time, not before the last
        write_new(kept, old)
    elif not old:
        kept = path
    write_new(path, text)
    told = f" (what stood there before is in {kept.name})" if kept != path else ""
    return [f"{Paint()('wrote', 'green')} {path}{told}"]
