"""Which gateways there are, by their heartbeats: one every second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from moongate.gateway.shared.connection import PendingCall
from moongate.gateway.shared.link import StateLink
from moongate.gateway.shared.resp import Reply
from moongate.gateway.shared.script import run_script
from moongate.payload import JsonObject, dumps, object_of

ALIVE_MILLISECONDS: Final = 5000  # since it was last heard of


class Nodes:
    """What this worker knows of all gateways. The last answer counts while the shared state is away."""

    def __init__(self, link: StateLink, prefix: str, node: str, describe: Callable[[], JsonObject]) -> None:
        self._link = link
        self._key = f"{prefix}:{{nodes}}"
        self._node = node
        self._describe = describe
        self.known: list[JsonObject] = [{"name": node, "alive": True, "seen": 0.0, **describe()}]

    @property
    def alive(self) -> int:
        """How many gateways there are, this one included."""
        return max(1, sum(1 for each in self.known if each["alive"]))

    def beat(self) -> None:
        self._link.call(run_script("beat", [self._key], self._node, dumps(self._describe())), self._answered)

    def _answered(self, call: PendingCall) -> None:
        if isinstance(call.reply, list) and call.reply and isinstance(call.reply[0], int):
            now = call.reply[0]
            pairs = zip(call.reply[1::2], call.reply[2::2], strict=True)
            self.known = sorted((_node(name, value, now) for name, value in pairs), key=lambda each: str(each["name"]))


def _node(name: Reply, value: Reply, now: int) -> JsonObject:
    assert isinstance(name, bytes)
    assert isinstance(value, bytes)
    seen, _, description = value.partition(b" ")
    age = now - int(seen)
    about = object_of(description) or {}
    return {**about, "name": name.decode("utf-8", "replace"), "alive": age < ALIVE_MILLISECONDS, "seen": age / 1000}
