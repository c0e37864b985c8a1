"""`moongate check`: what the configuration means, model by model. No secret is shown."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import Any

from moongate.cli.locate import add_config_option, located, required
from moongate.cli.terminal import Paint, warn
from moongate.gateway.config.load import Config, Source, is_loopback
from moongate.gateway.config.schema import json_schema
from moongate.gateway.redaction import Redactor
from moongate.gateway.routing import Route, Routes
from moongate.gateway.transformers import PLACEHOLDER
from moongate.payload import dumps_text


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the file instead")


def run(options: argparse.Namespace) -> int:
    if options.schema:
        print(json_schema(), end="")
        return 0
    config = required(options.config)
    routes = Routes(config)
    clean = Redactor(config.secrets).clean
    for line in _lines(config, routes, Paint()):
        print(clean(line))
    for line in warnings(config):
        warn(clean(line))
    print(Paint()("ok", "green"), located(options.config), file=sys.stdout)
    return 0


def warnings(config: Config) -> list[str]:
    """What is allowed but deserves a second look."""
    found = []
    if config.client_keys is None:
        found.append('"api_keys": "none": every program on this machine can use your providers')
    for source in config.sources:
        if source.endpoint.scheme == "http" and source.keys and not is_loopback(source.endpoint.host):
            found.append(f"{source.name}: the key travels unencrypted to {source.endpoint.origin}")
        for model, steps in source.chains.items():
            if PLACEHOLDER in {step.name for step in steps} - set(config.transformers.custom):
                found.append(f"{source.name},{model}: {PLACEHOLDER} is a placeholder and does nothing")
    return found


def _lines(config: Config, routes: Routes, paint: Paint) -> list[str]:
    settings = config.settings
    keys = "none needed" if config.client_keys is None else str(len(config.client_keys) or "made at first start")
    lines = [f"listens on http://{settings.host}:{settings.port}, client keys: {keys}"]
    rows = iter(routes.all)
    for source in config.sources:
        count = len(source.keys)
        lines.append("")
        lines.append(
            f"{paint(source.name, 'bold')}  {source.endpoint.url}  ({count} {'key' if count == 1 else 'keys'})"
        )
        for model in source.models:
            lines += _model(config, source, model.name, next(rows), routes, paint)
    if settings.aliases:
        lines += ["", paint("aliases", "bold"), *(f"  {name} → {to}" for name, to in settings.aliases.items())]
    if settings.default:
        lines += ["", f"{paint('default', 'bold')}  {settings.default}"]
    return lines


def _model(config: Config, source: Source, name: str, route: Route, routes: Routes, paint: Paint) -> list[str]:
    asked = [each for each, other in routes.listed() if other.index == route.index]
    lines = [f"  {paint(name, 'cyan')}  asked for as {', '.join(dict.fromkeys([*asked, route.name]))}"]
    if route.fallback:
        lines.append(f"    fallback: {', '.join(routes.all[index].name for index in route.fallback)}")
    steps = source.chains[name]
    if not steps:
        lines.append("    chain: (none)")
    chain = config.transformers.chain(steps, name, source.settings.api_base_url)
    for step, transformer in zip(steps, chain.transformers, strict=True):
        lines.append(f"    chain: {step.name}")
        lines += [f"      {key}: {value}" for key, value in described(transformer).items()]
    return lines


def described(transformer: Any) -> dict[str, str]:
    """The options that a transformer ended up with, and what it found out about its target and why."""
    found: dict[str, str] = {}
    for name, value in _fields(transformer).items():
        inner = _fields(value)
        if "why" in inner:
            found[name] = str(inner["why"])
        elif inner:
            found |= {_camel_case(key): _shown(each) for key, each in inner.items()}
        else:
            found[_camel_case(name)] = _shown(value)
    return found


def _fields(value: Any) -> dict[str, Any]:
    """The public fields of a dataclass; of anything else none."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return {}
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.name[0] != "_"}


def _camel_case(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _shown(value: Any) -> str:
    inner = _fields(value)
    try:
        return dumps_text({_camel_case(key): each for key, each in inner.items()} if inner else value)
    except TypeError:
        return str(value)
