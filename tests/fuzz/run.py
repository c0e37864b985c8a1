"""Targets in processes of their own: with atheris or, where that is missing, with random bytes."""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.fuzz.guide import Target, guided, instrumented

ROOT = Path(__file__).parents[2]
SECONDS = 300  # for one input: far more than any needs, even on a machine that pauses
MAX_INPUT = 192  # bytes; each may encode a whole marker
AT_A_TIME = 2
SHORT = 64  # for the tests: in the same time, many short inputs find more than a few long ones
SHORTER = {"k2": 24, "k3": 24, "schemas": 16}  # for what is slow: parsers fed by characters, schemas that grow
SEEDS = (
    *(b"data: {}\n\n", b"\xef\xbb\xbfevent: a\r\ndata: b\r\rdata: [DONE]\n\n", b'{"a": 1}\n{}\n', b": c\n\n"),
    *(bytes(range(64)), bytes(range(255, 0, -7)), b"\x01\x02\x12\x14\x19\x16\x1d\x15\x13", b"\x00" * 8),
)


@dataclass(frozen=True, slots=True)
class Job:
    """A target, with `runs` inputs of at most `largest` bytes that may take `seconds` each."""

    name: str
    runs: int
    largest: int = MAX_INPUT
    seconds: int = SECONDS


@dataclass(frozen=True, slots=True)
class Outcome:
    """`good`: all runs were made and no defect was found."""

    good: bool
    runs: int
    output: str


def launch(jobs: Sequence[Job]) -> dict[str, Outcome]:
    """Fuzz each target in a process of its own, two at a time. What each process ends with, by the target's name.

    Instrumenting the modules takes longer than thousands of runs: it is done once, by the process that forks the
    others. The inputs of atheris are not reproducible. The files of libFuzzer are deleted at the end; a failing input
    is in its output too, in base64.
    """
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        (Path(folder) / "jobs.json").write_text(json.dumps([asdict(job) for job in jobs]))
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.run", folder],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        return {job.name: _outcome(job, Path(folder) / job.name, done.stdout) for job in jobs}


def _outcome(job: Job, folder: Path, instead: str) -> Outcome:
    """`instead`: the output where the process of the job was not begun."""
    code, output = folder / "code", folder / "output"
    text = output.read_text(errors="replace") if output.exists() else instead
    found = re.findall(r"^Done (\d+) runs", text, re.MULTILINE)
    number = int(found[-1]) if found else 0
    return Outcome(code.exists() and code.read_text() == "0" and number >= job.runs, number, text)


def by_atheris(job: Job, folder: Path) -> None:
    """Never returns: libFuzzer ends the process, with 0 if nothing was found."""
    atheris = importlib.import_module("atheris")  # it has no types
    inputs = folder / "inputs"
    inputs.mkdir()
    for number, seed in enumerate(SEEDS):
        (inputs / f"{number}").write_bytes(seed)
    options = [f"-runs={job.runs}", f"-max_len={job.largest}", f"-timeout={job.seconds}", "-rss_limit_mb=4096"]
    atheris.Setup(["fuzz", *options, f"-artifact_prefix={inputs}/", str(inputs)], guided(find(job.name)))
    atheris.Fuzz()


def by_random(name: str, runs: int, largest: int = MAX_INPUT, seconds: int = SECONDS) -> None:
    """Run the target with random inputs without coverage, the same inputs on every machine."""
    target = find(name)
    rng = random.Random(f"{name} 1")
    sizes = [largest // part for part in (12, 4, 2, 1)]
    try:
        for number in range(runs):
            data = rng.randbytes(rng.choice(sizes))
            if number % 4 == 0:
                data = (rng.choice(SEEDS) + data[: rng.randrange(8)] + rng.choice(SEEDS))[:largest]
            if number % 100 == 0:  # a timer for each run would be slow
                faulthandler.dump_traceback_later(seconds, exit=True)
            target(data)
    except BaseException:
        print(f"fuzz: {name} fails for {data.hex()}", file=sys.stderr, flush=True)
        raise
    finally:
        faulthandler.cancel_dump_traceback_later()


def find(name: str) -> Target:
    """The target of that name. The first import of moongate, so that it can be instrumented."""
    from tests.fuzz.targets import TARGETS

    if name in TARGETS:
        return TARGETS[name]
    from tests.fuzz.planted import PLANTED

    return PLANTED[name]


def fuzz(job: Job, folder: Path, *, guide: bool) -> None:
    """In a process that is there for it alone."""
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    if guide:
        by_atheris(job, folder)
    else:
        print("fuzz: no atheris here; seeded random bytes instead", flush=True)
        by_random(job.name, job.runs, job.largest, job.seconds)
        print(f"Done {job.runs} runs", flush=True)


def main() -> None:
    top = Path(sys.argv[1])
    jobs = [Job(**each) for each in json.loads((top / "jobs.json").read_text())]
    guide = importlib.util.find_spec("atheris") is not None
    with instrumented() if guide else contextlib.nullcontext():
        for job in jobs:
            find(job.name)
    running: dict[int, Path] = {}
    while jobs or running:
        if jobs and len(running) < AT_A_TIME:
            job = jobs.pop(0)
            folder = top / job.name
            folder.mkdir()
            pid = os.fork()
            if pid == 0:
                fuzz(job, folder, guide=guide)
                return
            running[pid] = folder
        else:
            pid, status = os.wait()
            (running.pop(pid) / "code").write_text(str(os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    main()
