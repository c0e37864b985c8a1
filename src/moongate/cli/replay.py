"""`moongate replay`: a recorded answer through a chain, item by item: what came, what left, and why."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from moongate.chat.contracts import Exchange, Note
from moongate.chat.items import Chunk, Done, Failure, Item, Opaque, Stretch
from moongate.cli.locate import add_config_option, required
from moongate.cli.terminal import Paint
from moongate.errors import ConfigError, GatewayError
from moongate.gateway.config.jsonc import Document as File
from moongate.gateway.config.shapes import Place
from moongate.gateway.config.steps import read_use
from moongate.gateway.routing import Routes
from moongate.gateway.transformers import Transformers
from moongate.payload import JsonObject, dumps_text, loads, object_of
from moongate.pipeline.chain import Chain
from moongate.pipeline.upstream import Document, Upstream

WIDTH = 160
QUESTION: JsonObject = {"messages": [{"role": "user", "content": "(replayed)"}]}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the recorded body of an upstream answer; - for standard input")
    add_config_option(parser)
    parser.add_argument("--model", default="kimi-k2", help="the model that answered (default: %(default)s)")
    parser.add_argument("--use", metavar="JSON", help="the chain, as in a configuration (default: the configuration's)")
    parser.add_argument("--request", type=Path, help="the request that was answered (its tools and history matter)")
    parser.add_argument("--content-type", default="", help="as the provider said it (default: seen from the bytes)")
    parser.add_argument("--wide", action="store_true", help="do not shorten long lines")


def run(options: argparse.Namespace) -> int:
    data = sys.stdin.buffer.read() if str(options.file) == "-" else _read(options.file)
    request = QUESTION
    if options.request is not None:
        found = object_of(_read(options.request))
        if found is None:
            raise ConfigError("is not a JSON object", path=str(options.request))
        request = found
    printed = Printed(Paint(), None if options.wide else WIDTH)
    try:
        exchange = _chain(options).begin({**request, "model": options.model})
        printed.notes(exchange.notes, "request")
        whole = replayed(exchange, data, options.content_type, printed)
    except ConfigError:
        raise
    except GatewayError as error:
        printed.line("red", "fails", f"{type(error).__name__} {error.status}: {error}")
        return 1
    return 0 if whole else 1


class Printed:
    """Lines of the report."""

    def __init__(self, paint: Paint, width: int | None) -> None:
        self._paint = paint
        self._width = width
        self._told = 0

    def line(self, style: str, word: str, text: str) -> None:
        if self._width is not None and len(text) > self._width:
            text = text[: self._width - 1] + "…"
        print(f"{self._paint(f'{word:>8}', style)}  {text}")

    def items(self, word: str, items: Iterable[Item]) -> None:
        for item in items:
            self.line("cyan" if word == "came" else "green", word, shown(item))

    def notes(self, notes: Sequence[Note], where: str = "") -> None:
        """Those that are new since the last time."""
        for note in notes[self._told :]:
            change = f"{dumps_text(note.before)} → {dumps_text(note.after)}"
            self.line("yellow", "why", f"{note.kind} at {note.where or where}: {change}")
        self._told = len(notes)


def replayed(exchange: Exchange, data: bytes, content_type: str, printed: Printed) -> bool:
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
        printed.line("cyan", "came", dumps_text(body))
        reply = exchange.reply(body)
        printed.line("green", "left", "as it came" if reply is body else dumps_text(reply))
        printed.notes(exchange.notes)
        return True
    ended = False
    for item in [*items, *last]:
        printed.items("came", [item])
        left = exchange.feed(item)
        printed.items("left", [each for each in left if each is not item])
        if not left:
            printed.line("dim", "left", "nothing (it waits, or it was removed)")
        printed.notes(exchange.notes)
        if isinstance(item, Failure):
            return False
        ended = isinstance(item, Done)
        if ended:
            break
    printed.items("left", exchange.close())
    printed.notes(exchange.notes)
    if not ended:
        printed.line("red", "end", "without [DONE]")
    return ended


def shown(item: Item) -> str:
    """One item on one line."""
    if isinstance(item, Chunk):
        return dumps_text(item.payload)
    if isinstance(item, Done):
        return "[DONE]"
    if isinstance(item, Opaque):
        return item.raw.decode("utf-8", "replace").strip().replace("\n", "\\n") or "(blank)"
    return f"error {item.error.status}: {item.error}"


def _chain(options: argparse.Namespace) -> Chain:
    if options.use is None and options.config is not None:
        config = required(options.config)
        route = Routes(config).find(options.model)
        source = next(each for each in config.sources if each.name == route.provider)
        return config.transformers.chain(source.chains[route.model], route.model, source.settings.api_base_url)
    transformers = Transformers.load((), Path.cwd())
    text = options.use if options.use is not None else '["Kimi"]'
    try:
        use = loads(text)
    except ValueError:
        use = text  # a bare name
    place = Place(File("--use", use, {}), "use")
    return transformers.chain(read_use(use, place, transformers), options.model, "")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", path=str(path)) from None
