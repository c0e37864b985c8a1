"""Publishes what one gateway learns of a target to the others: cool-downs, learned rules, worths of answers.

Signals are entries of one stream. Every worker sends and reads once a second; what it sent itself it leaves out. Worths
are counted in a table that the workers of a machine share, so only one of them takes in those of other machines.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import Final, Protocol

from moongate.gateway.shared.connection import PendingCall
from moongate.gateway.shared.link import StateLink
from moongate.gateway.shared.resp import Reply, command

MAX_STREAM: Final = 10_000  # entries that the shared state keeps
MAX_READ: Final = 1000  # entries that are read at a time
MAX_UNSENT: Final = 1000  # signals that wait for the next second
MAX_REPEATS: Final = 100  # answers of one signal that are counted
HISTORY_MILLISECONDS: Final = 600_000  # of signals that a gateway reads when it starts

Signal = tuple[str, str, str]  # kind, target, value


class SignalReceiver(Protocol):
    """Applies what other gateways have learned of a target."""

    def cool_down(self, target: str, seconds: float) -> None: ...

    def learn(self, target: str, rule: str) -> None: ...

    def judge(self, target: str, worth: str) -> None: ...


class TargetSignals:
    """`cooled`, `learned` and `judged` collect; without a link they do nothing."""

    __slots__ = (
        "_counts",
        "_is_reading",
        "_key",
        "_last",
        "_link",
        "_node",
        "_reads_worths",
        "_receiver",
        "_unsent",
        "_worker",
    )

    def __init__(self, worker: str = "", *, reads_worths: bool = True) -> None:
        """`worker` is `node/number`."""
        self._worker = worker
        self._node = worker.rpartition("/")[0]
        self._reads_worths = reads_worths
        self._link: StateLink | None = None
        self._receiver: SignalReceiver | None = None
        self._key = ""
        self._last = ""  # the last entry that was read
        self._is_reading = False
        self._unsent: list[Signal] = []
        self._counts: Counter[tuple[str, str]] = Counter()

    def connect(self, link: StateLink, prefix: str, receiver: SignalReceiver) -> None:
        self._link, self._key, self._receiver = link, f"{prefix}:{{signals}}", receiver

    def cooled(self, target: str, seconds: float) -> None:
        self._add(("cool_down", target, f"{seconds:.3f}"))

    def learned(self, target: str, rule: str) -> None:
        self._add(("learned", target, rule))

    def judged(self, target: str, worth: str) -> None:
        if self._link is not None:
            self._counts[target, worth] += 1

    def exchange(self, now: float) -> None:
        """Send what was collected and read what others have sent; `now` in seconds since 1970."""
        link = self._link
        if link is None:
            return
        if not self._last:
            self._last = f"{int(now * 1000) - (HISTORY_MILLISECONDS if self._reads_worths else 0)}-0"
        for (target, worth), count in self._counts.items():
            self._add((worth, target, str(count)))
        self._counts.clear()
        for signal in self._unsent:
            fields = ("from", self._worker, "kind", signal[0], "target", signal[1], "value", signal[2])
            link.call(command("XADD", self._key, "MAXLEN", "~", MAX_STREAM, "*", *fields))
        self._unsent.clear()
        if not self._is_reading:  # else the same entries would come twice
            self._is_reading = True
            link.call(command("XRANGE", self._key, f"({self._last}", "+", "COUNT", MAX_READ), self._read)

    def _add(self, signal: Signal) -> None:
        if self._link is not None and len(self._unsent) < MAX_UNSENT:
            self._unsent.append(signal)

    def _read(self, call: PendingCall) -> None:
        self._is_reading = False
        if not isinstance(call.reply, list):
            return
        for entry in call.reply:
            assert isinstance(entry, list)
            entry_id, values = entry
            assert isinstance(entry_id, bytes)
            assert isinstance(values, list)
            self._last = entry_id.decode()
            with contextlib.suppress(ValueError):  # of a kind that only a newer moongate knows
                self._apply(_fields(values))

    def _apply(self, fields: dict[str, str]) -> None:
        sender, kind, target = fields.get("from", ""), fields.get("kind", ""), fields.get("target", "")
        receiver, value = self._receiver, fields.get("value", "")
        if receiver is None or sender == self._worker:
            return
        if kind == "cool_down":
            receiver.cool_down(target, float(value))
        elif kind == "learned":
            receiver.learn(target, value)
        elif self._reads_worths and sender.rpartition("/")[0] != self._node:
            for _ in range(min(int(value), MAX_REPEATS)):
                receiver.judge(target, kind)


def _fields(values: list[Reply]) -> dict[str, str]:
    texts = [value.decode("utf-8", "replace") if isinstance(value, bytes) else "" for value in values]
    return dict(zip(texts[::2], texts[1::2], strict=True))
