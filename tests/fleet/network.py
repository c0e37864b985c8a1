"""Network namespaces on one bridge: one for each machine of a fleet, so that a link can be cut. Needs root."""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
from dataclasses import dataclass
from types import TracebackType

FIRST_HOST = 2  # .1 is the bridge: what runs outside of the namespaces


@dataclass(frozen=True)
class Machine:
    """A namespace with one address."""

    namespace: str
    address: str

    @property
    def prefix(self) -> tuple[str, ...]:
        """Before a command, to run it there."""
        return ("ip", "netns", "exec", self.namespace)


def can_make_namespaces() -> bool:
    return os.getuid() == 0


class Network:
    """A context manager; everything is taken down at its end."""

    def __init__(self) -> None:
        tag = f"{os.getpid() % 65536:x}{random.randrange(256):02x}"
        self._bridge = f"mg{tag}"
        self._subnet = f"10.{random.randrange(64, 250)}.{random.randrange(256)}"
        self._machines: list[Machine] = []
        self.address = f"{self._subnet}.1"

    def __enter__(self) -> Network:
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("addr", "add", f"{self.address}/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for machine in self._machines:
            with contextlib.suppress(subprocess.CalledProcessError):
                _ip("netns", "del", machine.namespace)
        _ip("link", "del", self._bridge)

    def machine(self, name: str) -> Machine:
        number = len(self._machines)
        made = Machine(f"{self._bridge}{name}", f"{self._subnet}.{FIRST_HOST + number}")
        outside = f"{self._bridge}{number}"
        _ip("netns", "add", made.namespace)
        self._machines.append(made)
        _ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", made.namespace)
        _ip("link", "set", outside, "master", self._bridge, "up")
        for command in (
            ("addr", "add", f"{made.address}/24", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
            ("link", "set", "lo", "up"),
        ):
            _ip("-n", made.namespace, *command)
        return made

    def cut(self, one: Machine, other: Machine) -> None:
        """Nothing passes between the two any more, without a word to either."""
        _ip("-n", one.namespace, "route", "add", "blackhole", f"{other.address}/32")
        _ip("-n", other.namespace, "route", "add", "blackhole", f"{one.address}/32")

    def join(self, one: Machine, other: Machine) -> None:
        _ip("-n", one.namespace, "route", "del", "blackhole", f"{other.address}/32")
        _ip("-n", other.namespace, "route", "del", "blackhole", f"{one.address}/32")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
