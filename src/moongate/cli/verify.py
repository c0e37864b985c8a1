"""`moongate verify`: how good is a vendor, with and without the chain?"""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from moongate.cli.argument_types import natural, positive, seconds
from moongate.cli.config_path import add_config_option
from moongate.cli.console import Console
from moongate.cli.tables import print_json
from moongate.cli.verify_plan import planned_cases, recorded_plan, require_same_plan, verify_target
from moongate.cli.verify_progress import ProgressLine
from moongate.errors import ConfigError
from moongate.gateway.config.schema import indented
from moongate.gateway.http.client_key import home
from moongate.gateway.inspect.verify_reports import remember_report
from moongate.payload import JsonObject, object_of
from moongate.verify.budget import RunBudget, parse_budget
from moongate.verify.case import PlannedCase
from moongate.verify.client import VendorClient
from moongate.verify.results_file import SUMMARY, Key, ResultsFile, write_file
from moongate.verify.runner import RunEnd, VerifyRun, run_plan
from moongate.verify.suites import SUITES
from moongate.verify.summary import RunSummary
from moongate.verify.target import VerifyTarget
from moongate.verify.text_report import compared_text, report_text
from moongate.verify.thresholds import below, parse_thresholds
from moongate.verify.writing import read_summary, write_reports

EPILOG: Final = """\
examples:
  moongate verify moonshot,kimi-k2.6 --out runs/moonshot
  moongate verify --base-url http://127.0.0.1:8000/v1 --model kimi-k2 --suite schema,tools --fail-under schema=0.99
  moongate verify compare runs/moonshot runs/together

Each answer is judged twice: raw, and as the chain makes it. The folder gets results.jsonl and summary.json, which
K2-Vendor-Verifier can read, report.html to send to the vendor, and junit.xml.
exit codes: 0 passed, 1 below --fail-under, 2 the configuration or the command line is wrong, or the vendor refuses key
or model, 3 the vendor does not answer, 130 interrupted: the results so far are written"""
_EXITS: Final = {RunEnd.UNREACHABLE: 3, RunEnd.REJECTED: 2, RunEnd.INTERRUPTED: 130}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="*", metavar="PROVIDER,MODEL", help="a model of the configuration; or: compare FOLDER FOLDER …"
    )
    add_config_option(parser)
    add = parser.add_argument
    add("--base-url", metavar="URL", help="instead of a configured model: the vendor's address")
    add("--model", metavar="NAME", help="with --base-url: the model's name there")
    add("--key-env", default="MOONGATE_API_KEY", metavar="NAME", help="variable with the key (default: %(default)s)")
    add("--use", metavar="JSON", help='with --base-url: the chain (default: [["Kimi", {"preset": "agent"}]])')
    add("--suite", default=",".join(SUITES), metavar="NAMES", help="suites (default: %(default)s)")
    add("--data", type=Path, metavar="FILE", help="instead of suites: request bodies, one a line, as K2VV has them")
    add("--baseline", type=Path, metavar="FILE", help="results.jsonl of a vendor that calls when it should")
    add("--out", type=Path, default=Path("verify"), metavar="DIR", help="folder for the results (default: %(default)s)")
    add("--resume", action="store_true", help="go on where an earlier run in the folder has ended")
    add("--runs", type=positive, default=1, metavar="N", help="ask each case so often (default: %(default)s)")
    add("--max", type=positive, metavar="N", help="ask at most so many samples, of each suite alike")
    add("--concurrency", type=positive, default=5, metavar="N", help="at the same time (default: %(default)s)")
    add("--timeout", type=seconds, default=600.0, metavar="SECONDS", help="for one answer (default: %(default)g)")
    add("--retries", type=natural, default=3, metavar="N", help="after a failed request (default: %(default)s)")
    add("--budget", metavar="AMOUNT", help="stop when so much is spent: 2.50usd, or 500k tokens")
    add("--fail-under", default="", metavar="RATES", help="exit 1 below these: schema=0.99,f1=0.73")
    add("--json", action="store_true", help="print the summary as JSON")


def run(options: argparse.Namespace, console: Console) -> int:
    if options.names[:1] == ["compare"]:
        return _compare(options)
    thresholds = parse_thresholds(options.fail_under)
    budget = parse_budget(options.budget) if options.budget else RunBudget()
    target = verify_target(options, console)
    if budget.micros is not None and target.prices is None:
        raise ConfigError(f"the prices of {target.name} are not known: give tokens (500k)", path="--budget")
    planned = planned_cases(options, target)
    results = _prepared(options, target)
    done = results.compact(planned) if options.resume else set[Key]()
    summary, end = asyncio.run(_verify(options, target, planned, done, budget, results))
    failed = below(thresholds, summary)
    write_reports(options.out, summary, failed)
    with suppress(OSError):  # it is for the pages of a gateway on this machine; the report is written
        remember_report(home(console.environ), summary, options.out)
    print_json(summary) if options.json else print(report_text(summary), f"{options.out}/report.html", sep="\n")
    words = summary["moongate"]["end"]
    for line in [*failed, *([] if end is RunEnd.COMPLETE else [f"not all was asked: {words}"])]:
        print(f"moongate: {line}", file=sys.stderr)
    return _EXITS.get(end, 1 if failed else 0)


async def _verify(
    options: argparse.Namespace,
    target: VerifyTarget,
    planned: list[PlannedCase],
    done: set[Key],
    budget: RunBudget,
    results: ResultsFile,
) -> tuple[JsonObject, RunEnd]:
    summary = RunSummary(target.model, target.name)
    for row in results.rows():
        summary.add(row)
    client = VendorClient(target, timeout=options.timeout, retries=options.retries)
    progress = ProgressLine(len(planned), len(done), summary)
    plan = VerifyRun(planned, done, budget, options.concurrency, summary, progress.row)
    try:
        with results, progress:
            end, words = await run_plan(plan, client, results)
    finally:
        client.close()
    results.compact(planned)
    final = RunSummary(target.model, target.name)
    for row in results.rows():
        final.add(row)
    found = final.as_json()
    if end is RunEnd.COMPLETE and not final.answered:
        end, words = RunEnd.UNREACHABLE, "no request got an answer"
    found["moongate"]["end"] = words
    return found, end


def _prepared(options: argparse.Namespace, target: VerifyTarget) -> ResultsFile:
    """The folder, with the plan of this run in it."""
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot be made: {error.strerror}", path=str(options.out)) from None
    results, place = ResultsFile(options.out), options.out / "run.json"
    plan = recorded_plan(options, target)
    if options.resume:
        require_same_plan(object_of(place.read_bytes()) if place.exists() else None, plan, place)
    elif results.path.exists():
        raise ConfigError("there are results already: --resume goes on, --out names another", path=str(options.out))
    write_file(place, f"{indented(plan)}\n".encode())
    return results


def _compare(options: argparse.Namespace) -> int:
    folders = [Path(name) for name in options.names[1:]]
    if len(folders) < 2:
        raise ConfigError("compare takes two folders or more", path="compare")
    found = [(str(folder), read_summary(folder / SUMMARY)) for folder in folders]
    if options.json:
        print_json(dict(found))
    else:
        print(compared_text(found))
    return 0
