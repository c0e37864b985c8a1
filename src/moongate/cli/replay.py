"""`moongate replay`: runs a recorded answer through a chain and shows, item by item, what came in and what went out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from moongate.chat.contracts import Exchange
from moongate.chat.items import Done, Failure
from moongate.cli.config_path import load_config
from moongate.cli.console import Console
from moongate.cli.report import Report
from moongate.errors import ConfigError, GatewayError
from moongate.gateway.config.jsonc import ConfigDocument, parse
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.steps import read_use
from moongate.gateway.routing.routes import Routes
from moongate.gateway.transformers import Transformers
from moongate.payload import JsonObject, object_of
from moongate.pipeline.chain import Chain
from moongate.pipeline.upstream_reader import AnswerDocument, UpstreamReader

CASE_KEY = "moongate_case"
DEFAULT_MODEL = "kimi-k2"
DEFAULT_REQUEST: JsonObject = {"messages": [{"role": "user", "content": "(replayed)"}]}
USE = """'[["Kimi", {"preset": "agent"}]]'"""
EPILOG = f"""\
examples:
  moongate replay answer.sse --use {USE}
  moongate replay answer.sse --config config.json --model kimi-k2.6 --request request.json
  moongate replay req_5f0c.case.json

FILE may also be a test case that the page of a request at /ui has copied: it holds answer, request, model and chain.
An event without a line 'out' is passed on unchanged.
exit codes: 0 the answer is complete, 1 it is incomplete or an error, 2 the command line is wrong"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="the recorded body of an upstream answer; - for standard input"
    )
    parser.add_argument(
        "-c", "--config", type=Path, metavar="FILE", help="take the chain that this configuration has for the model"
    )
    parser.add_argument(
        "--model", metavar="MODEL", help=f"the model that answered (default: {DEFAULT_MODEL}, or the test case's)"
    )
    parser.add_argument(
        "--use", metavar="JSON", help='the chain, as in a configuration (default: "Kimi", or the test case\'s)'
    )
    parser.add_argument(
        "--request", type=Path, metavar="FILE", help="the request that was answered (its tools and history matter)"
    )
    parser.add_argument(
        "--content-type",
        default="",
        metavar="TYPE",
        help="the provider's content type (default: detected)",
    )
    parser.add_argument("--wide", action="store_true", help="show events in full and do not truncate lines")


def run(options: argparse.Namespace, console: Console) -> int:
    data = sys.stdin.buffer.read() if str(options.file) == "-" else _read(options.file)
    case = _test_case(data)
    request = case.get("request", DEFAULT_REQUEST) if options.request is None else object_of(_read(options.request))
    if not isinstance(request, dict):
        raise ConfigError("is not a JSON object", path=str(options.request or f"{options.file}: request"))
    if case:
        data = str(case.get("answer", "")).encode("utf-8", "surrogatepass")
    content_type = options.content_type or str(case.get("content_type", ""))
    options.model = options.model or str(case.get("model", DEFAULT_MODEL))
    report = Report(wide=options.wide)
    try:
        exchange = _chain(options, console, case).begin({**request, "model": options.model})
        report.notes(exchange.notes, "request")
        complete = replayed(exchange, data, content_type, report)
    except ConfigError:
        raise
    except GatewayError as error:
        report.line("red", "error", f"{type(error).__name__} {error.status}: {error}")
        complete = False
    report.line("bold", "total", report.totals.summary(complete=complete), cut=False)
    return 0 if complete else 1


def replayed(exchange: Exchange, data: bytes, content_type: str, report: Report) -> bool:
    """Print every item of the answer; True if the answer is complete."""
    upstream = UpstreamReader(content_type)
    items = upstream.feed(data)
    last = upstream.close()
    if isinstance(last, AnswerDocument):
        body = last.body()
        report.document(body, exchange.reply(body))
        report.notes(exchange.notes)
        return True
    ended = False
    for item in [*items, *last]:
        report.received(item)
        report.sent(exchange.feed(item), item)
        report.notes(exchange.notes)
        if isinstance(item, Failure):
            return False
        ended = isinstance(item, Done)
        if ended:
            break
    report.closed(exchange.close())
    report.notes(exchange.notes)
    if not ended:
        report.line("red", "end", "without [DONE]")
    return ended


def _test_case(data: bytes) -> JsonObject:
    """What a test case holds; empty if the file is an answer."""
    found = object_of(data) if data.lstrip()[:1] == b"{" and CASE_KEY.encode() in data[:200] else None
    return found if found is not None and found.get(CASE_KEY) == 1 else {}


def _chain(options: argparse.Namespace, console: Console, case: JsonObject) -> Chain:
    if options.use is None and options.config is not None:
        config = load_config(options.config, console.environ)
        routes = Routes(config)
        route = routes.all[routes.find(options.model).index]
        source = next(each for each in config.sources if each.name == route.provider)
        return config.transformers.chain(source.chains[route.model], route.model, source.settings.api_base_url)
    transformers = Transformers.load((), Path.cwd())
    use = _use(options.use) if options.use is not None else case.get("use", "Kimi")
    place = ConfigPlace(ConfigDocument("--use", use, {}), "use")
    return transformers.chain(read_use(use, place, transformers), options.model, str(case.get("base_url", "")))


def _use(text: str) -> object:
    """The value of `--use`: JSON, or the bare name of a transformer."""
    if text.strip()[:1] not in ("{", "[", '"'):
        return text
    try:
        return parse(text, "--use").value
    except ConfigError as error:
        reason, column = error.message.split("\n")[0], int(error.path.rpartition(":")[2])
        line = f"\n  {text}\n{' ' * (column + 1)}^" if "\n" not in text else ""
        raise ConfigError(f"{reason}{line}\nin a shell, with the quotes: --use {USE}", path=error.path) from None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(path)) from None
