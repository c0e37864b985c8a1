"""One target in one process: with atheris or, where that is missing, with random bytes."""

from __future__ import annotations

import faulthandler
import importlib
import random
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.guide import Target, guided, instrumented

ROOT = Path(__file__).parents[2]
SECONDS = 300  # for one input: far more than any needs, even on a machine that pauses
MAX_INPUT = 192  # bytes; each may encode a whole marker
SHORT = 64  # for the tests: in the same time, many short inputs find more than a few long ones
SHORTER = {"k2": 24, "k3": 24, "schemas": 16}  # for what is slow: parsers fed by characters, schemas that grow
SEEDS = (
    *(b"data: {}\n\n", b"\xef\xbb\xbfevent: a\r\ndata: b\r\rdata: [DONE]\n\n", b'{"a": 1}\n{}\n', b": c\n\n"),
    *(bytes(range(64)), bytes(range(255, 0, -7)), b"\x01\x02\x12\x14\x19\x16\x1d\x15\x13", b"\x00" * 8),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`good`: all runs were made and no defect was found."""

    good: bool
    runs: int
    output: str


def launch(name: str, runs: int, largest: int = MAX_INPUT, seconds: int = SECONDS) -> Outcome:
    """Fuzz in a separate process, with inputs of at most `largest` bytes that may take `seconds` each.

    The inputs of atheris are not reproducible. The files of libFuzzer are deleted at the end; a failing input is in its
    output too, in base64.
    """
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for number, seed in enumerate(SEEDS):
            (Path(folder) / f"{number}").write_bytes(seed)
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.run", name, str(runs), str(largest), str(seconds), folder],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    found = re.findall(r"^Done (\d+) runs", done.stdout, re.MULTILINE)
    number = int(found[-1]) if found else 0
    return Outcome(done.returncode == 0 and number >= runs, number, done.stdout)


def by_atheris(name: str, runs: int, largest: int, seconds: int, folder: str) -> None:
    """Never returns: libFuzzer ends the process, with 0 if nothing was found."""
    atheris = importlib.import_module("atheris")  # it has no types
    with instrumented():
        target = find(name)
    options = [f"-runs={runs}", f"-max_len={largest}", f"-timeout={seconds}", "-rss_limit_mb=4096"]
    atheris.Setup(["fuzz", *options, f"-artifact_prefix={folder}/", folder], guided(target))
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


def main() -> None:
    name, folder = sys.argv[1], sys.argv[5]
    runs, largest, seconds = map(int, sys.argv[2:5])
    try:
        importlib.import_module("atheris")
    except ImportError as error:
        print(f"fuzz: no atheris here ({error}); seeded random bytes instead", flush=True)
        by_random(name, runs, largest, seconds)
        print(f"Done {runs} runs", flush=True)
    else:
        by_atheris(name, runs, largest, seconds, folder)


if __name__ == "__main__":
    main()
