"""What tests need beyond Python packages: one row for each system package, read by pytest and by `make`.

    python3 tests/support/system_packages.py missing          names what is not installed
    python3 tests/support/system_packages.py install          installs it with apt-get (CI; as root or with sudo)
    python3 tests/support/system_packages.py has NAME         1 and what is left out, if it is not installed
    python3 tests/support/system_packages.py require NAME     1 and the reason, if it is not installed

A test declares `pytest.mark.needs("slowhttptest")`. Without the package it is skipped, and the reason is printed at the
end of the run. Under `CI=true` everything is installed before the tests and a skip is a failure (`requirement_hooks`).
To add a package, add a row to `PACKAGES`. This file imports nothing but the standard library, because it runs before
any virtual environment exists.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

INSTALL_SECONDS = 600.0
LOCK_SECONDS = 300  # to wait for another apt-get, such as the daily upgrade


def on_path(*programs: str) -> Callable[[], bool]:
    """All of these programs can be run."""
    return lambda: all(shutil.which(program) for program in programs)


def can_compile() -> bool:
    """There is a C compiler, and the header files of this Python."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    return bool(shutil.which(compiler)) and os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))


def can_make_environments() -> bool:
    """Debian keeps what `python -m venv` needs in a package of its own."""
    return importlib.util.find_spec("ensurepip") is not None


def postgresql_binaries() -> Path | None:
    """The folder with initdb and postgres, the newest version if there are several. Debian keeps them off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda each: float(each.parts[4]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(os.path.realpath(on_path)).parent if on_path else None


@dataclass(frozen=True)
class SystemPackage:
    """`name` is what a test declares; `purpose` is what is left out without it; `apt` are the packages of Debian."""

    name: str
    purpose: str
    is_installed: Callable[[], bool]
    apt: tuple[str, ...]
    title: str = ""

    @property
    def reason(self) -> str:
        return f"{self.title or self.name} is not installed (Debian: apt install {' '.join(self.apt)})"


PACKAGES = (
    SystemPackage("venv", "every test", can_make_environments, ("python3-venv",)),
    SystemPackage(
        "gcc",
        "tests over compiled modules",
        can_compile,
        ("gcc", "libc6-dev", "python3-dev"),
        "a C compiler with Python.h",
    ),
    SystemPackage("npm", "coding agents as clients", on_path("node", "npm"), ("nodejs", "npm")),
    SystemPackage("systemd", "check of the systemd unit", on_path("systemd-analyze"), ("systemd",)),
    SystemPackage("postgresql", "the store on PostgreSQL", lambda: postgresql_binaries() is not None, ("postgresql",)),
    SystemPackage("chromium", "pages and reports in a browser", on_path("chromium"), ("chromium",)),
    SystemPackage(
        "redis",
        "state that several gateways share",
        lambda: any(shutil.which(f"{name}-server") and shutil.which(f"{name}-cli") for name in ("valkey", "redis")),
        ("redis-server",),
        "Redis or Valkey",
    ),
    SystemPackage("nginx", "two gateways behind a load balancer", on_path("nginx"), ("nginx-light",)),
    SystemPackage("iproute2", "gateways in network namespaces", on_path("ip"), ("iproute2",)),
    SystemPackage("bash", "completion in bash", on_path("bash"), ("bash",)),
    SystemPackage("zsh", "completion in zsh", on_path("zsh"), ("zsh",)),
    SystemPackage("fish", "completion in fish", on_path("fish"), ("fish",)),
    SystemPackage("man", "the manual page as man shows it", on_path("man", "groff"), ("man-db", "groff")),
    SystemPackage("prometheus", "alerts and dashboard of deploy/", on_path("promtool"), ("prometheus",)),
    SystemPackage("slowhttptest", "slow clients in make soak", on_path("slowhttptest"), ("slowhttptest",)),
)
BY_NAME = {package.name: package for package in PACKAGES}


def is_ci() -> bool:
    return os.environ.get("CI") == "true"


def missing() -> list[SystemPackage]:
    return [package for package in PACKAGES if not package.is_installed()]


def install(packages: list[SystemPackage]) -> int:
    """Install them; the exit code. What is there already is left as it is."""
    if not packages:
        return 0
    wanted = [name for package in packages for name in package.apt]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    as_root = [] if os.getuid() == 0 else ["sudo"]
    for options in (["update"], ["-y", "--no-install-recommends", "install", *wanted]):
        command = [*as_root, "apt-get", "-q", "-o", f"DPkg::Lock::Timeout={LOCK_SECONDS}", *options]
        print("+", *command, flush=True)
        code = subprocess.run(command, env=environment, timeout=INSTALL_SECONDS, check=False).returncode
        if code:
            return code
    importlib.invalidate_caches()
    absent = [package.reason for package in packages if not package.is_installed()]
    print("\n".join(f"still missing: {reason}" for reason in absent), end="\n" if absent else "")
    return 1 if absent else 0


def main(arguments: list[str]) -> int:
    match arguments:
        case ["missing"]:
            for package in missing():
                print(f"left out: {package.purpose}: {package.reason}")
            return 0
        case ["install"]:
            return install(missing())
        case ["has" | "require" as verb, name] if name in BY_NAME:
            if BY_NAME[name].is_installed():
                return 0
            print(
                f"left out: {BY_NAME[name].purpose}: {BY_NAME[name].reason}" if verb == "has" else BY_NAME[name].reason
            )
            return 1
        case _:
            print(__doc__)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
