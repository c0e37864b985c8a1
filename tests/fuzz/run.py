"""One target in one process: with atheris; where there is none, with bytes of our own dice."""

from __future__ import annotations

import faulthandler
import importlib
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 300  # for one input: far more than any needs, and than a machine may stand still
LARGEST = 192  # bytes; each may stand for a whole marker
SEEDS = (
    *(b"data: {}\n\n", b"\xef\xbb\xbfevent: a\r\ndata: b\r\rdata: [DONE]\n\n", b'{"a": 1}\n{}\n', b": c\n\n"),
    *(bytes(range(64)), bytes(range(255, 0, -7)), b"\x01\x02\x12\x14\x19\x16\x1d\x15\x13", b"\x00" * 8),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """`runs` is how many there were: fewer than asked for if the time was over."""

    good: bool
    runs: int
    output: str


def launch(name: str, runs: int, seconds: int = 0) -> Outcome:
    """Fuzz in a process of its own, for so many seconds at most (0: any number).

    What libFuzzer writes goes with it; an input that fails is in its output too.
    """
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for number, seed in enumerate(SEEDS):
            (Path(folder) / f"{number}").write_bytes(seed)
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.run", name, str(runs), str(seconds), folder],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": "0"},  # the same inputs every time
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    found = re.findall(r"^Done (\d+) runs", done.stdout, re.MULTILINE)
    return Outcome(done.returncode == 0 and bool(found), int(found[-1]) if found else 0, done.stdout)


def by_atheris(name: str, runs: int, seconds: int, folder: str) -> None:
    """Never returns: libFuzzer ends the process, with 0 if nothing was found."""
    atheris = importlib.import_module("atheris")  # it has no types
    with atheris.instrument_imports(include=["moongate"]):
        from tests.fuzz.targets import TARGETS, everything
    options = [f"-runs={runs}", f"-max_total_time={seconds}", f"-max_len={LARGEST}", f"-timeout={SECONDS}"]
    options += ["-seed=1", "-rss_limit_mb=4096"]
    atheris.Setup(["fuzz", *options, f"-artifact_prefix={folder}/", folder], TARGETS.get(name, everything))
    atheris.Fuzz()


def by_dice(name: str, runs: int, seconds: float = 0) -> int:
    """The same targets without a guide, the same inputs on every machine. Gives the number of runs."""
    from tests.fuzz.targets import TARGETS, everything

    target = TARGETS.get(name, everything)
    dice = random.Random(f"{name} 1")
    end = time.monotonic() + (seconds or float("inf"))
    for number in range(runs):
        if time.monotonic() > end:
            return number
        data = dice.randbytes(dice.choice((8, 32, 96, LARGEST)))
        if number % 4 == 0:
            data = dice.choice(SEEDS) + data[: dice.randrange(8)] + dice.choice(SEEDS)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            target(data)
        except BaseException:
            print(f"fuzz: {name} fails for {data.hex()}", file=sys.stderr, flush=True)
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
    return runs


def main() -> None:
    name, runs, seconds, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    try:
        importlib.import_module("atheris")
    except ImportError as error:
        print(f"fuzz: no atheris here ({error}); seeded dice instead", flush=True)
        print(f"Done {by_dice(name, runs, seconds)} runs", flush=True)
    else:
        by_atheris(name, runs, seconds, folder)


if __name__ == "__main__":
    main()
