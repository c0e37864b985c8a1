"""Processes under measurement: started, watched until they answer, read for CPU time and memory, ended."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tree(pid: int) -> list[int]:
    """The process and all its descendants."""
    found, queue = [], [pid]
    while queue:
        current = queue.pop()
        found.append(current)
        for children in Path(f"/proc/{current}/task").glob("*/children"):
            try:
                queue += [int(child) for child in children.read_text().split()]
            except OSError:
                continue
    return found


def cpu_seconds(pid: int) -> float:
    """CPU time of the tree, in seconds, to the nanosecond where the kernel keeps it (schedstat), else by ticks."""
    return sum(map(own_cpu_seconds, tree(pid)))


def own_cpu_seconds(pid: int) -> float:
    """The same for one process."""
    total = 0.0
    for task in Path(f"/proc/{pid}/task").glob("*"):
        try:
            total += int((task / "schedstat").read_text().split()[0]) / 1e9
        except (OSError, IndexError):
            try:
                fields = (task / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return total


def memory_mib(pid: int) -> float:
    """Proportional set size of the tree."""
    total = 0
    for each in tree(pid):
        try:
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


class Running:
    """One server process (tree) on a loopback port."""

    def __init__(self, command: list[str], port: int, *, env: dict[str, str] | None = None, cwd: Path | None = None):
        self.port = port
        self.log = Path(os.environ.get("BENCH_LOG", "/dev/null")).open("ab")
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )

    def wait(self, seconds: float = 60.0) -> float:
        """Until the port accepts; returns the seconds since the start."""
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"ended with {self.process.returncode} before it listened")
            try:
                socket.create_connection(("127.0.0.1", self.port), 0.2).close()
                return time.perf_counter() - self.began
            except OSError:
                time.sleep(0.01)
        raise RuntimeError(f"did not listen within {seconds:.0f} s")

    def cpu(self) -> float:
        return cpu_seconds(self.process.pid)

    def memory(self) -> float:
        return memory_mib(self.process.pid)

    def stop(self) -> None:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, sign)
                self.process.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue
            else:
                break
        self.log.close()
