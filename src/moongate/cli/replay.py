"""`moongate replay`: runs recorded answers through a chain; of one it shows, event by event, what came and left."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from moongate.chat.contracts import Exchange
from moongate.chat.items import Chunk, Done, Failure
from moongate.chat.progress import Progress
from moongate.cli.config_path import load_config
from moongate.cli.console import Console
from moongate.cli.recorded_answer import DEFAULT_MODEL, RecordedAnswer, files_below, read_bytes, read_recorded
from moongate.cli.replay_sums import FileReplay, print_replays, sums
from moongate.cli.report import Report
from moongate.cli.tables import print_json
from moongate.errors import ConfigError, GatewayError, UpstreamRefused
from moongate.gateway.config.jsonc import ConfigDocument, parse
from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.steps import read_use
from moongate.gateway.routing.routes import Routes
from moongate.gateway.transformers import Transformers
from moongate.payload import JsonObject, object_of
from moongate.pipeline.chain import Chain
from moongate.pipeline.upstream_reader import AnswerDocument, UpstreamReader

USE = """'[["Kimi", {"preset": "agent"}]]'"""
COMPLETE: Final = "complete"
INCOMPLETE: Final = "incomplete"
NO_ANSWER: Final = "no answer at all"
EPILOG = f"""\
examples:
  moongate replay answer.sse --use {USE}
  moongate replay answer.sse --config config.json --model kimi-k2.6 --request request.json
  moongate replay recordings/ more/*.sse --json
  moongate replay req_5f0c.case.json

FILE may also be a test case that the page of a request at /ui has copied: it holds answer, request, model and chain.
Of one file each event is shown; one without a line 'out' is passed on unchanged. Of several, a line for each file.
exit codes: 0 every answer is complete, 1 one is incomplete, an error or no answer, 2 the command line is wrong"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="recorded bodies of upstream answers, or folders of them; - for standard input",
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
    parser.add_argument("--json", action="store_true", help="print one JSON object: every file, and the sums")
    parser.add_argument("--wide", action="store_true", help="show events in full and do not truncate lines")


def run(options: argparse.Namespace, console: Console) -> int:
    request = None if options.request is None else object_of(read_bytes(options.request))
    if options.request is not None and request is None:
        raise ConfigError("is not a JSON object", path=str(options.request))
    chains = _Chains(options, console)
    files = [file for path in options.files for file in files_below(path)]
    detailed = len(files) == 1 and not options.json
    replays = []
    for file in files:
        recorded = read_recorded(file)
        report = Report(wide=options.wide, quiet=not detailed)
        outcome = _outcome(chains, recorded, request, report)
        replays.append(FileReplay(str(file), outcome, report.totals))
    if detailed:
        report.line("bold", "total", report.totals.summary(outcome), cut=False)
    else:
        print_json(sums(replays)) if options.json else print_replays(replays)
    return 0 if all(replay.outcome == COMPLETE for replay in replays) else 1


def _outcome(chains: _Chains, recorded: RecordedAnswer, request: JsonObject | None, report: Report) -> str:
    model, chain = chains.of(recorded)
    try:
        exchange = chain.begin({**(recorded.request if request is None else request), "model": model})
        report.notes(exchange.notes, "request")
        return replayed(exchange, recorded.data, chains.content_type or recorded.content_type, report)
    except ConfigError:
        raise
    except GatewayError as error:
        report.line("red", "error", f"{type(error).__name__} {error.status}: {error}")
        return f"error {error.status}: {error.message}" if isinstance(error, UpstreamRefused) else NO_ANSWER


def replayed(exchange: Exchange, data: bytes, content_type: str, report: Report) -> str:
    """Print every item of the answer; what has become of it."""
    upstream = UpstreamReader(content_type)
    items = upstream.feed(data)
    last = upstream.close()
    if isinstance(last, AnswerDocument):
        body = last.body()
        report.document(body, exchange.reply(body))
        report.notes(exchange.notes)
        return COMPLETE
    ended = began = False
    progress = Progress()
    for item in [*items, *last]:
        report.received(item)
        report.sent(exchange.feed(item), item)
        report.notes(exchange.notes)
        if isinstance(item, Failure):
            return f"error {item.error.status}: {item.error.message}"
        if isinstance(item, Chunk):
            progress.saw(item.payload)
            began = began or bool(item.payload.get("choices"))
        ended = isinstance(item, Done)
        if ended:
            break
    report.closed(exchange.close())
    report.notes(exchange.notes)
    if not began:
        report.line("red", "end", f"{NO_ANSWER}: no completion, and no event of one")
        return NO_ANSWER
    if ended or progress.complete:
        return COMPLETE
    report.line("red", "end", "without [DONE]")
    return INCOMPLETE


class _Chains:
    """The chain for each recorded answer: what the command line says, else what the test case says."""

    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self.content_type: str = options.content_type
        self._model: str | None = options.model
        self._use: object = None if options.use is None else _use(options.use)
        self._config = None
        if options.use is None and options.config is not None:
            self._config = load_config(options.config, console.environ)

    def of(self, recorded: RecordedAnswer) -> tuple[str, Chain]:
        """The model, and its chain. Raises ConfigError."""
        model = self._model or recorded.model
        if self._config is None:
            use = recorded.use if self._use is None else self._use
            return model, _built_chain(use, model, recorded.base_url)
        routes = Routes(self._config)
        route = routes.all[routes.find(model).index]
        source = next(each for each in self._config.sources if each.name == route.provider)
        chains = self._config.transformers
        return model, chains.chain(source.chains[route.model], route.model, source.settings.base_url)


def chain_of(text: str, model: str, base_url: str) -> Chain:
    """The chain that `--use` writes, for a model at an address. Raises ConfigError."""
    return _built_chain(_use(text), model, base_url)


def _built_chain(use: object, model: str, base_url: str) -> Chain:
    transformers = Transformers.load((), Path.cwd())
    place = ConfigPlace(ConfigDocument("--use", use, {}), "use")
    return transformers.chain(read_use(use, place, transformers), model, base_url)


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
