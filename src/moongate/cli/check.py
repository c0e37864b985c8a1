"""`moongate check`: validates the configuration and describes it, model by model. No secret is shown."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from moongate.chat.contracts import Transformer
from moongate.cli.argument_types import seconds
from moongate.cli.banner import build_line
from moongate.cli.check_json import print_invalid, print_valid
from moongate.cli.config_path import add_config_option, load_config
from moongate.cli.console import Console
from moongate.cli.describe import facts, options_of
from moongate.cli.terminal import Colours, fitted, warn
from moongate.cli.warnings import config_warnings
from moongate.errors import ConfigError
from moongate.gateway.config.load import Config
from moongate.gateway.config.schema import json_schema
from moongate.gateway.config.sources import Source
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.routing.route import Route
from moongate.gateway.routing.routes import Routes

Paint = Callable[[str, str], str]  # a text in a style
EPILOG = """\
example:
  moongate check --config config.json && moongate check --live

--live asks every target for a few short answers; it says before and after how many tokens that costs.
exit codes: 0 it is valid (though there may be warnings), 1 --live found a target that does not work,
2 it is invalid, or there is none"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add_config_option(parser)
    parser.add_argument("-a", "--all", action="store_true", help="show the options at their defaults too")
    parser.add_argument("--live", action="store_true", help="ask every target: key, model, tool calls, a tool loop")
    parser.add_argument(
        "--json", action="store_true", help="print JSON: what it means, or what is wrong; with --live what was found"
    )
    parser.add_argument("--timeout", type=seconds, default=60.0, metavar="SECONDS", help="with --live: for one answer")
    parser.add_argument("--schema", action="store_true", help="print the JSON Schema of the file instead")


def run(options: argparse.Namespace, console: Console) -> int:
    if options.schema:
        print(json_schema(), end="")
        return 0
    try:
        config = load_config(options.config, console.environ)
    except ConfigError as error:
        if not options.json:
            raise
        print_invalid(error)
        return 2
    if options.live:
        from moongate.cli.check_live import check_targets

        return check_targets(config, timeout=options.timeout, as_json=options.json)
    if options.json:
        print_valid(config)
        return 0
    redact = Redactor(config.secrets).redact
    paint = Colours()
    for line in _lines(config, Routes(config), paint, everything=options.all):
        print(fitted(redact(line)))
    for line in config_warnings(config):
        warn(redact(line))
    print(paint("ok", "green"), config.file)
    if sys.stdout.isatty():  # for people; scripts compare what is printed
        print(f"moongate {build_line()}", file=sys.stderr)
    return 0


def description(config: Config) -> str:
    """What the command prints of a configuration, without colours; warnings included."""
    redact = Redactor(config.secrets).redact
    lines = _lines(config, Routes(config), lambda text, _: text, everything=False)
    warnings = [f"warning: {line}" for line in config_warnings(config)]
    return "\n".join(map(redact, [*lines, *(["", *warnings] if warnings else [])]))


def _lines(config: Config, routes: Routes, paint: Paint, *, everything: bool) -> list[str]:
    settings = config.settings
    keys = "none needed" if config.client_keys is None else str(len(config.client_keys) or "made at first start")
    lines = [f"listens on http://{settings.host}:{settings.port}, client keys: {keys}"]
    remaining = iter(routes.all)
    for source in config.sources:
        keys = {0: "no key", 1: "1 key"}.get(len(source.keys), f"{len(source.keys)} keys")
        urls = ", ".join(endpoint.url for endpoint in source.endpoints)
        lines += ["", f"{paint(source.name, 'bold')}  {urls}  ({keys})", *_way(source)]
        described: dict[str, str] = {}  # what a chain means → the first model for which it was shown
        for model in source.models:
            lines += _model(next(remaining), routes, paint)
            chain = _chain(config, source, model.name, everything=everything)
            first = described.setdefault("\n".join(chain).replace(repr(model.name), ""), model.name)
            lines += chain if first == model.name or len(chain) == 1 else [f"    chain: as for {first}"]
    if routes.configured:
        lines += ["", paint("routes", "bold"), *(line for route in routes.configured for line in _route(route, routes))]
    if settings.aliases:
        lines += ["", paint("aliases", "bold"), *(f"  {name} → {to}" for name, to in settings.aliases.items())]
    if settings.default:
        lines += ["", f"{paint('default', 'bold')}  {settings.default}"]
    return lines


def _way(source: Source) -> list[str]:
    """The proxy in between, where it is the environment's: nothing in the file says so."""
    proxied = {each.proxy for each in source.origins} - {None, source.settings.proxy}
    return ["  through the proxy that HTTPS_PROXY names"] if proxied else []


def _model(route: Route, routes: Routes, paint: Paint) -> list[str]:
    listed = [name for name, other in routes.listed() if other is route]
    lines = [f"  {paint(route.model, 'cyan')}  names: {', '.join(dict.fromkeys([*listed, route.name]))}"]
    if route.fallback:
        lines.append(f"    fallback: {', '.join(routes.all[index].name for index in route.fallback)}")
    return lines


def _route(route: Route, routes: Routes) -> list[str]:
    policy = route.policy
    assert policy is not None
    sticky = ", sticky" if policy.sticky else ""
    pairs = zip(policy.targets, policy.weights, strict=True)
    targets = [f"{routes.all[index].name}{f' (weight {weight:g})' if weight != 1 else ''}" for index, weight in pairs]
    return [f"  {route.name} → {', '.join(targets)}", f"    strategy: {policy.strategy}{sticky}"]


def _chain(config: Config, source: Source, model: str, *, everything: bool) -> list[str]:
    steps = source.chains[model]
    lines = [] if steps else ["    chain: (none)"]
    chain = config.transformers.chain(steps, model, source.settings.base_url)
    for step, transformer in zip(steps, chain.transformers, strict=True):
        lines.append(f"    chain: {step.name}")
        lines += [f"      {line}" for line in facts(transformer, source.settings.dialect)]
        lines += [f"      {line}" for line in _options(transformer, everything=everything)]
    return lines


def _options(transformer: Transformer, *, everything: bool) -> list[str]:
    changed, defaults = options_of(transformer)
    shown = changed | defaults if everything else changed
    if not shown:
        return [f"options: {len(defaults)}, all at their defaults (--all shows them)"] if defaults else []
    rest = f" ({len(defaults)} more at their defaults: --all)" if defaults and not everything else ""
    return [f"options{rest}:", *(f"  {name}: {value}" for name, value in shown.items())]
