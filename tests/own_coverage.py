"""Does each pure module reach every branch from its own test file alone?

    python -m tests.own_coverage                  all pure modules
    python -m tests.own_coverage kimi/ids wire    some of them

One run of the tests with the name of each test recorded; then, for each module, only what its own file did counts:
`src/moongate/kimi/ids.py` is tested by `tests/kimi/test_ids.py` and, where there is one, `test_ids_properties.py`.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage
from coverage.exceptions import NoDataError

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "moongate"
PURE = (
    "errors.py",
    "payload.py",
    "wire",
    "chat",
    "fast",
    "kimi",
    "transformers",
    "pipeline",
    "dialects",
    "native",
    "prices",
)


@dataclass(frozen=True)
class Owned:
    """A module and the files with its own tests."""

    module: Path
    tests: tuple[Path, ...]

    @property
    def name(self) -> str:
        return str(self.module.relative_to(SOURCE).with_suffix(""))


def owned_modules(wanted: list[str]) -> list[Owned]:
    """Each pure module that is wanted, all if none is named."""
    found = []
    for part in PURE:
        for module in sorted((SOURCE / part).rglob("*.py")) if (SOURCE / part).is_dir() else [SOURCE / part]:
            inner = module.relative_to(SOURCE)
            folder = ROOT / "tests" / inner.parent
            named = (f"test_{inner.name}", f"test_{inner.stem}_properties.py")
            owned = Owned(module, tuple(folder / name for name in named if (folder / name).exists()))
            if not wanted or any(owned.name.startswith(each.removesuffix("/")) for each in wanted):
                found.append(owned)
    return found


def run_tests(modules: list[Owned], data_file: str) -> int:
    """Run the files with the modules' own tests, each test recorded under its name."""
    files = [str(file.relative_to(ROOT)) for owned in modules for file in owned.tests]
    options = ["-q", "-n", "2", "--dist", "loadfile", "--cov=moongate", "--cov-branch", "--cov-context=test"]
    command = [sys.executable, "-m", "pytest", *options, "--cov-report=", *files]
    environment = {"COVERAGE_FILE": data_file, "PATH": "", "PYTHONPATH": str(SOURCE.parent)}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def own_coverage(owned: Owned, data_file: str) -> tuple[float, str]:
    """How much of a module its own tests reach, in percent, and the report on what is missing."""
    coverage = Coverage(data_file=data_file, config_file=str(ROOT / "pyproject.toml"))
    coverage.load()
    own_tests = [f"^{re.escape(str(file.relative_to(ROOT)))}::" for file in owned.tests]
    report = io.StringIO()
    try:
        percent = coverage.report(
            include=[str(owned.module)],
            contexts=["^$", *own_tests],  # "" is what runs when the module is imported
            show_missing=True,
            file=report,
        )
    except NoDataError:
        return 0.0, "no test imports it"
    return percent, report.getvalue().splitlines()[2]


def main(wanted: list[str]) -> int:
    modules = owned_modules(wanted)
    with tempfile.TemporaryDirectory() as folder:
        data_file = str(Path(folder) / "coverage")
        if run_tests(modules, data_file):
            return 1
        short = [
            (owned, line) for owned in modules for percent, line in [own_coverage(owned, data_file)] if percent < 100
        ]
    for owned, line in short:
        print(f"{owned.name}: {' '.join(line.split()[3:])}")
    print(f"{len(modules) - len(short)} of {len(modules)} modules reach every branch from their own test file")
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
