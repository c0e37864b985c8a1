"""`make dist`: builds what is published and tries it as its users get it.

    dist/moongate-VERSION.tar.gz                    the sources
    dist/moongate-VERSION-py3-none-any.whl          pure Python, for everybody
    dist/moongate-VERSION-cp3XX-...-PLATFORM.whl    machine code, for this Python and machine

Both wheels are built from the sources in the archive, so it must be complete. The pure wheel is compressed again,
by zopfli. Each file is then installed into an empty environment, where `moongate demo` runs, and the library is
imported with orjson alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from unittest import mock

from moongate import __version__

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
WORK = ROOT / "build" / "dist"
RUNTIME = ROOT / "requirements" / "runtime.txt"
BUILD = ROOT / "requirements" / "build.txt"
LIMITS = {"pure": 1_000_000, "compiled": 12_000_000}  # bytes of a wheel
LIBRARY_CODE = """
import sys
before = set(sys.modules)
from moongate import KimiTransformer, Session
import moongate.httpx, moongate.payload
packages = {name.partition(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
packages = {name for name in packages if not name.endswith("__mypyc")}
assert packages == {"moongate", "orjson"}, packages
print("compiled" if not moongate.payload.__file__.endswith(".py") else "pure")
"""


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """The output of a command that must succeed."""
    print("+", " ".join(Path(each).name if isinstance(each, Path) else each for each in command), flush=True)
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MOONGATE"))}
    done = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env={**environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{done.stdout}\nmake dist: {command[0]} has failed with {done.returncode}")
    return done.stdout


def build() -> dict[str, Path]:
    """The three files, by their kind."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob("moongate-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", DIST)
    sources = DIST / f"moongate-{__version__}.tar.gz"
    with tarfile.open(sources) as archive:
        archive.extractall(WORK, filter="data")
    unpacked = WORK / f"moongate-{__version__}"
    wheel = (sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", DIST)
    run(*wheel, cwd=unpacked)
    (pure,) = DIST.glob("*-none-any.whl")
    pack_tightly(pure)
    optimisation = os.environ.get("MOONGATE_OPTIMISATION", "2")
    run(*wheel, cwd=unpacked, MOONGATE_COMPILED="1", MOONGATE_OPTIMISATION=optimisation)
    (compiled,) = set(DIST.glob("*.whl")) - {pure}
    return {"sources": sources, "pure": pure, "compiled": compiled}


class Zopfli:
    """What zipfile needs of a compressor: deflate as everybody reads it, from a more thorough search."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def compress(self, data: bytes) -> bytes:
        self._parts.append(data)
        return b""

    def flush(self) -> bytes:
        from zopfli.zlib import compress  # type: ignore[import-not-found]  # only here are the tools installed

        made: bytes = compress(b"".join(self._parts))
        return made[2:-4]  # without the head and the sum of zlib's format


def pack_tightly(wheel: Path) -> None:
    """Compress the files of a wheel again: the same files, 3 % smaller."""
    with zipfile.ZipFile(wheel) as archive:
        files = [(each, archive.read(each)) for each in archive.infolist()]
    with (
        mock.patch.object(zipfile, "_get_compressor", side_effect=lambda *_: Zopfli()),
        zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for each, data in files:
            archive.writestr(each, data)
    with zipfile.ZipFile(wheel) as archive:
        if [archive.read(each) for each in archive.infolist()] != [data for _, data in files]:
            sys.exit(f"make dist: {wheel.name} does not hold what it held before")


def check(made: dict[str, Path]) -> None:
    """What an index would refuse, what should not be in a wheel, and what is too large."""
    tools = Path(sys.executable).parent
    run(tools / "twine", "check", "--strict", *made.values())
    # W002: migrations of both databases may be equal. W009: mypyc's own library lies beside the package.
    run(tools / "check-wheel-contents", "--toplevel", "moongate", "--ignore", "W002", made["pure"])
    run(tools / "check-wheel-contents", "--ignore", "W002,W009", made["compiled"])
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    run(tools / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows)
    identifiers = run(tools / "cibuildwheel", "--print-build-identifiers", "--platform", "linux", "--archs", "x86_64")
    if not {"cp311-manylinux_x86_64", "cp314-manylinux_x86_64"} <= set(identifiers.split()):
        sys.exit(f"make dist: cibuildwheel would not build for every Python:\n{identifiers}")
    for kind, limit in LIMITS.items():
        size = made[kind].stat().st_size
        if size > limit:
            sys.exit(f"make dist: {made[kind].name} has {size:,} bytes, more than {limit:,}")


def try_out(kind: str, file: Path) -> None:
    """Install a file into an empty environment and use it."""
    place = WORK / f"environment-{kind}"
    venv.create(place, with_pip=True, clear=True)
    python, program = place / "bin" / "python", place / "bin" / "moongate"
    pip = (python, "-m", "pip", "--disable-pip-version-check", "-q", "install", "--no-deps")
    locked = WORK / "orjson.txt"
    locked.write_text(_entry("orjson", RUNTIME.read_text(encoding="utf-8")), encoding="utf-8")
    run(*pip, "--require-hashes", "-r", locked)
    if kind == "sources":
        run(*pip, "--require-hashes", "-r", BUILD)
    run(*pip, "--no-build-isolation", file)
    found = run(python, "-c", LIBRARY_CODE, cwd=place).strip()
    expected = "compiled" if kind == "compiled" else "pure"
    if found != expected:
        sys.exit(f"make dist: {file.name} runs as {found}, not as {expected}")
    run(*pip, "--require-hashes", "-r", RUNTIME)
    run(python, "-m", "pip", "--disable-pip-version-check", "check")
    home = WORK / f"home-{kind}"
    home.mkdir()
    if run(program, "--version", cwd=home).strip() != f"moongate {__version__}":
        sys.exit(f"make dist: {file.name} has another version")
    run(program, "demo", cwd=home, HOME=str(home))
    if not (place / "share" / "man" / "man1" / "moongate.1").is_file():
        sys.exit(f"make dist: {file.name} brings no manual page")
    print(f"{kind}: {file.name}, {file.stat().st_size:,} bytes: installed, demo passed, runs {found}", flush=True)


def _entry(name: str, lock: str) -> str:
    """The lines of one package in a lock file."""
    return next(entry for entry in lock.replace("\n    ", "\t").split("\n") if entry.startswith(f"{name}==")).replace(
        "\t", "\n    "
    ) + "\n"  # fmt: skip


def main() -> int:
    made = build()
    check(made)
    for kind, file in made.items():
        try_out(kind, file)
    shutil.rmtree(WORK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
