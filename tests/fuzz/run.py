"""One target in one process: with atheris; where there is none, with bytes of our own dice."""

from __future__ import annotations

import faulthandler
import importlib
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECONDS = 60  # for one input: far more than any needs
LARGEST = 192  # bytes; each may stand for a whole marker
SEEDS = (
    *(b"data: {}\n\n", b"\xef\xbb\xbfevent: a\r\ndata: b\r\rdata: [DONE]\n\n", b'{"a": 1}\n{}\n', b": c\n\n"),
    *(bytes(range(64)), bytes(range(255, 0, -7)), b"\x01\x02\x12\x14\x19\x16\x1d\x15\x13", b"\x00" * 8),
)


def launch(name: str, runs: int, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
    """Fuzz in a process of its own. What libFuzzer writes goes with it; an input that fails is in its output too."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for number, seed in enumerate(SEEDS):
            (Path(folder) / f"{number}").write_bytes(seed)
        command = [sys.executable, "-m", "tests.fuzz.run", name, str(runs), folder]
        return subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False
        )


def by_atheris(name: str, runs: int, folder: str) -> None:
    """Never returns: libFuzzer ends the process, with 0 if nothing was found."""
    atheris = importlib.import_module("atheris")  # it has no types
    with atheris.instrument_imports(include=["moongate"]):
        from tests.fuzz.targets import TARGETS, everything
    options = [f"-runs={runs}", f"-max_len={LARGEST}", f"-timeout={SECONDS}", "-seed=1", "-rss_limit_mb=4096"]
    atheris.Setup(["fuzz", *options, f"-artifact_prefix={folder}/", folder], TARGETS.get(name, everything))
    atheris.Fuzz()


def by_dice(name: str, runs: int, seed: int = 1) -> None:
    """The same targets without a guide, the same inputs on every machine."""
    from tests.fuzz.targets import TARGETS, everything

    target = TARGETS.get(name, everything)
    dice = random.Random(f"{name} {seed}")
    for number in range(runs):
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


def main() -> None:
    name, runs, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    try:
        importlib.import_module("atheris")
    except ImportError as error:
        print(f"fuzz: no atheris here ({error}); seeded dice instead", flush=True)
        by_dice(name, runs)
    else:
        by_atheris(name, runs, folder)


if __name__ == "__main__":
    main()
