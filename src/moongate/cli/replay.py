"""`moongate replay`: a recorded answer through a chain, item by item: what came, what left, and why."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from moongate.chat.contracts import Exchange
from moongate.chat.items import Done, Failure, Item, Stretch
from moongate.cli.locate import required
from moongate.cli.report import Report
from moongate.errors import ConfigError, GatewayError
from moongate.gateway.config.jsonc import Document as File
from moongate.gateway.config.jsonc import parse
from moongate.gateway.config.shapes import Place
from moongate.gateway.config.steps import read_use
from moongate.gateway.routing import Routes
from moongate.gateway.transformers import Transformers
from moongate.payload import JsonObject, object_of
from moongate.pipeline.chain import Chain
from moongate.pipeline.upstream import Document, Upstream

QUESTION: JsonObject = {"messages": [{"role": "user", "content": "(replayed)"}]}
USE = """'[["Kimi", {"preset": "agent"}]]'"""
EPILOG = f"""\
examples:
  moongate replay answer.sse --use {USE}
  moongate replay answer.sse --config config.json --model kimi-k2.6 --request request.json

An event without a line 'left' leaves as it came.
exit codes: 0 the answer is whole, 1 it is cut or an error, 2 the command line is wrong"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="the recorded body of an upstream answer; - for standard input"
    )
    parser.add_argument(
        "-c", "--config", type=Path, metavar="FILE", help="take the chain that this configuration has for the model"
    )
    parser.add_argument(
        "--model", default="kimi-k2", metavar="MODEL", help="the model that answered (default: %(default)s)"
    )
    parser.add_argument("--use", metavar="JSON", help='the chain, as in a configuration (default: "Kimi")')
    parser.add_argument(
        "--request", type=Path, metavar="FILE", help="the request that was answered (its tools and history matter)"
    )
    parser.add_argument(
        "--content-type", default="", metavar="TYPE", help="as the provider said it (default: seen from the bytes)"
    )
    parser.add_argument("--wide", action="store_true", help="show everything of each event, and cut no line")


def run(options: argparse.Namespace) -> int:
    data = sys.stdin.buffer.read() if str(options.file) == "-" else _read(options.file)
    request = QUESTION
    if options.request is not None:
        found = object_of(_read(options.request))
        if found is None:
            raise ConfigError("is not a JSON object", path=str(options.request))
        request = found
    report = Report(wide=options.wide)
    try:
        exchange = _chain(options).begin({**request, "model": options.model})
        report.notes(exchange.notes, "request")
        whole = replayed(exchange, data, options.content_type, report)
    except ConfigError:
        raise
    except GatewayError as error:
        report.line("red", "fails", f"{type(error).__name__} {error.status}: {error}")
        whole = False
    report.line("bold", "in all", report.tally.words(whole=whole), cut=False)
    return 0 if whole else 1


def replayed(exchange: Exchange, data: bytes, content_type: str, report: Report) -> bool:
    """Print everything; True if the answer is whole."""
    upstream = Upstream(content_type)
    items: list[Item] = []
    for item in upstream.feed(data):
        if isinstance(item, Stretch):
            assert upstream.events is not None  # where stretches come from
            items += upstream.events.refused(item)
        else:
            items.append(item)
    last = upstream.close()
    if isinstance(last, Document):
        body = last.body()
        report.document(body, exchange.reply(body))
        report.notes(exchange.notes)
        return True
    ended = False
    for item in [*items, *last]:
        report.came(item)
        report.left(exchange.feed(item), item)
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


def _chain(options: argparse.Namespace) -> Chain:
    if options.use is None and options.config is not None:
        config = required(options.config)
        route = Routes(config).find(options.model)
        source = next(each for each in config.sources if each.name == route.provider)
        return config.transformers.chain(source.chains[route.model], route.model, source.settings.api_base_url)
    transformers = Transformers.load((), Path.cwd())
    use = _use(options.use) if options.use is not None else "Kimi"
    place = Place(File("--use", use, {}), "use")
    return transformers.chain(read_use(use, place, transformers), options.model, "")


def _use(text: str) -> Any:
    """JSON, or a bare name."""
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
