"""`moongate check`: what the configuration means, model by model. No secret is shown."""

from __future__ import annotations

import argparse

from moongate.chat.contracts import Transformer
from moongate.cli.concerns import concerns
from moongate.cli.locate import add_config_option, located, required
from moongate.cli.meaning import facts, options_of
from moongate.cli.terminal import Paint, fitted, warn
from moongate.gateway.config.load import Config, Source
from moongate.gateway.config.schema import json_schema
from moongate.gateway.redaction import Redactor
from moongate.gateway.routing import Route, Routes

EPILOG = """\
example:
  moongate check --config config.json

exit codes: 0 it is right (though there may be warnings), 2 it is wrong, or there is none"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    parser.add_argument("-a", "--all", action="store_true", help="show the options at their defaults too")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the file instead")


def run(options: argparse.Namespace) -> int:
    if options.schema:
        print(json_schema(), end="")
        return 0
    config = required(options.config)
    clean = Redactor(config.secrets).clean
    paint = Paint()
    for line in _lines(config, Routes(config), paint, everything=options.all):
        print(fitted(clean(line)))
    for line in concerns(config):
        warn(clean(line))
    print(paint("ok", "green"), located(options.config))
    return 0


def _lines(config: Config, routes: Routes, paint: Paint, *, everything: bool) -> list[str]:
    settings = config.settings
    own = "none needed" if config.client_keys is None else str(len(config.client_keys) or "made at first start")
    lines = [f"listens on http://{settings.host}:{settings.port}, client keys: {own}"]
    rows = iter(routes.all)
    for source in config.sources:
        keys = {0: "no key", 1: "1 key"}.get(len(source.keys), f"{len(source.keys)} keys")
        lines += ["", f"{paint(source.name, 'bold')}  {source.endpoint.url}  ({keys})"]
        for model in source.models:
            route = next(rows)
            lines += _model(route, routes, paint)
            lines += _chain(config, source, model.name, everything=everything)
    if settings.aliases:
        lines += ["", paint("aliases", "bold"), *(f"  {name} → {to}" for name, to in settings.aliases.items())]
    if settings.default:
        lines += ["", f"{paint('default', 'bold')}  {settings.default}"]
    return lines


def _model(route: Route, routes: Routes, paint: Paint) -> list[str]:
    asked = [each for each, other in routes.listed() if other.index == route.index]
    lines = [f"  {paint(route.model, 'cyan')}  asked for as {', '.join(dict.fromkeys([*asked, route.name]))}"]
    if route.fallback:
        lines.append(f"    fallback: {', '.join(routes.all[index].name for index in route.fallback)}")
    return lines


def _chain(config: Config, source: Source, model: str, *, everything: bool) -> list[str]:
    steps = source.chains[model]
    lines = [] if steps else ["    chain: (none)"]
    chain = config.transformers.chain(steps, model, source.settings.api_base_url)
    for step, transformer in zip(steps, chain.transformers, strict=True):
        lines.append(f"    chain: {step.name}")
        lines += [f"      {line}" for line in facts(transformer)]
        lines += [f"      {line}" for line in _options(transformer, everything=everything)]
    return lines


def _options(transformer: Transformer, *, everything: bool) -> list[str]:
    changed, usual = options_of(transformer)
    shown = changed | usual if everything else changed
    if not shown:
        return [f"options: {len(usual)}, all at their defaults (--all shows them)"] if usual else []
    rest = f" ({len(usual)} more at their defaults: --all)" if usual and not everything else ""
    return [f"options{rest}:", *(f"  {name}: {value}" for name, value in shown.items())]
