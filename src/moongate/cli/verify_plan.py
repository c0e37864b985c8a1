"""What `moongate verify` is to ask, by its command line: the target, the cases, and what a resumed run repeats."""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

from moongate.cli.config_path import load_config
from moongate.cli.console import Console
from moongate.cli.replay import chain_of
from moongate.errors import ConfigError
from moongate.gateway.routing.routes import Routes
from moongate.payload import JsonObject, object_of
from moongate.verify.baseline import data_case_rows, with_baseline
from moongate.verify.case import PlannedCase, VerifyCase, plan
from moongate.verify.suites import SUITES, cases_of
from moongate.verify.target import VerifyTarget, addressed_target, configured_target

DEFAULT_CHAIN = '[["Kimi", {"preset": "agent"}]]'


def verify_target(options: argparse.Namespace, console: Console) -> VerifyTarget:
    """A model of the configuration, or one at an address. Raises ConfigError."""
    if options.base_url:
        if options.names or not options.model:
            raise ConfigError("--base-url takes --model, and no PROVIDER,MODEL", path="--base-url")
        key = console.environ.get(options.key_env, "")
        chain = chain_of(options.use or DEFAULT_CHAIN, options.model, options.base_url)
        return addressed_target(options.base_url, options.model, key, chain)
    if len(options.names) != 1:
        raise ConfigError("name one PROVIDER,MODEL of the configuration, or --base-url and --model", path="verify")
    config = load_config(options.config, console.environ)
    routes = Routes(config)
    route = routes.named(options.names[0])
    if route is None:
        raise ConfigError(routes.not_found(options.names[0]).message, path=options.names[0])
    if route.policy is not None:
        several = " or ".join(routes.all[index].name for index in route.policy.targets)
        raise ConfigError(f"stands for several models: name one, {several}", path=options.names[0])
    return configured_target(config, route.provider, route.model)


def planned_cases(options: argparse.Namespace, target: VerifyTarget) -> list[PlannedCase]:
    if options.data is not None:
        cases = _data_cases(options.data)
    else:
        names = [name.strip() for name in options.suite.split(",") if name.strip()]
        if unknown := [name for name in names if name not in SUITES]:
            raise ConfigError(f"{unknown[0]!r} is no suite: {', '.join(SUITES)}", path="--suite")
        if not names:
            raise ConfigError(f"name one at least: {', '.join(SUITES)}", path="--suite")
        cases = [case for suite in SUITES if suite in names for case in cases_of(suite, target.model)]
    planned = plan(cases, options.runs, options.max)
    if options.baseline is not None:
        planned = with_baseline(planned, _rows(options.baseline))
        if not any(each.case.due is not None for each in planned if each.case.suite in ("tools", "data")):
            raise ConfigError("it holds none of the cases of this run", path=str(options.baseline))
    return planned


def recorded_plan(options: argparse.Namespace, target: VerifyTarget) -> JsonObject:
    """What makes two runs the same run."""
    return {
        "target": target.name,
        "base_url": target.base_url,
        "use": options.use,
        "suite": options.suite if options.data is None else None,
        "data": None if options.data is None else _named(options.data),
        "baseline": None if options.baseline is None else _named(options.baseline),
        "runs": options.runs,
        "max": options.max,
    }


def _named(path: Path) -> str:
    """A file, and what is in it: with other contents it is another run."""
    return f"{path} (sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:16]})"


def require_same_plan(before: JsonObject | None, now: JsonObject, place: Path) -> None:
    """Raises ConfigError if the run in the folder was another one."""
    for name, value in now.items():
        if before is not None and before.get(name) != value:
            raise ConfigError(f"the run there has {name} {before.get(name)!r}, not {value!r}", path=str(place))


def _data_cases(path: Path) -> list[VerifyCase]:
    """Request bodies, one a line, named by the number of their line."""
    return [VerifyCase("data", str(number), body) for number, body in data_case_rows(_numbered(path))]


def _rows(path: Path) -> list[JsonObject]:
    return [row for _, row in _numbered(path)]


def _numbered(path: Path) -> list[tuple[int, JsonObject]]:
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(path)) from None
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        body = object_of(line)
        if body is None:
            raise ConfigError("is not a JSON object", path=f"{path}:{number}")
        found.append((number, body))
    if not found:
        raise ConfigError("holds no line", path=str(path))
    return found
