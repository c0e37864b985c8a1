"""The commands that run `state.lua`, made of parts that are encoded once for each client. Pure but for one file."""

from __future__ import annotations

from hashlib import sha1
from importlib.resources import files
from math import ceil
from typing import Final

from moongate.gateway.limits.account import CONCURRENCY_WAIT, Account
from moongate.gateway.limits.limit_set import LimitName, LimitSet, Refusal
from moongate.gateway.limits.periods import DAY_SECONDS, window_of
from moongate.gateway.shared.resp import Reply, arguments, command

SCRIPT: Final = files("moongate.gateway.shared").joinpath("state.lua").read_bytes()
DIGEST: Final = sha1(SCRIPT, usedforsecurity=False).hexdigest()
TAKEN, MUST_LOAD = 0, 9
ACCOUNT_NUMBERS: Final = 6  # of each account in the answer to `begin`
FIRST_ACCOUNT: Final = 3
# What a refusal's number means, and whether it is only a matter of requests in flight.
REFUSALS: Final[dict[int, tuple[LimitName, bool]]] = {
    1: ("concurrency", True),
    2: ("rpm", True),
    3: ("tpm", True),
    4: ("budget", True),
    5: ("budget", False),
    6: ("token_budget", True),
    7: ("token_budget", False),
    8: ("price", False),
}
MICROSECONDS: Final = 1_000_000


def run_script(verb: str, keys: list[str], *values: str | int | bytes) -> bytes:
    return command("EVALSHA", DIGEST, len(keys), *keys, verb, *values)


def account_keys(prefix: str, tag: str, identity: bytes) -> list[str]:
    """The hash, the leases, the reservations. All accounts of a client have one tag, so that a cluster keeps them
    together: its team's, or its own."""
    name = f"{prefix}:{{{tag}}}:{identity[:16].hex()}"
    return [name, f"{name}:leases", f"{name}:reserved"]


class ClientCommands:
    """`begin` and `finish` for the accounts of one client. What does not change is encoded once a day."""

    __slots__ = ("_begin", "_day", "_finish", "_limits", "_tail", "accounts", "keys", "windows")

    def __init__(self, accounts: tuple[Account, ...], prefix: str) -> None:
        self.accounts = accounts
        tag = accounts[-1].identity[:16].hex()  # the team is the last one
        self.keys = [account_keys(prefix, tag, account.identity) for account in accounts]
        names = [name for keys in self.keys for name in keys]
        count = len(accounts)
        script: list[bytes | str | int] = ["EVALSHA", DIGEST, len(names), *names]
        self._begin = b"*%d\r\n" % (9 + 10 * count) + arguments([*script, "begin"])
        self._finish = b"*%d\r\n" % (10 + 6 * count) + arguments([*script, "finish"])
        self._day = -1
        self._limits: list[LimitSet] = []
        self._tail = b""
        self.windows: tuple[str, ...] = ()

    def begin(self, request: bytes, lease: int, tokens: int, prompt: int, cost: int, day: int) -> bytes:
        """`lease` in seconds; `cost` -1: not known."""
        if day != self._day:
            self._encode_limits(day)
        for index, account in enumerate(self.accounts):
            if account.limits is not self._limits[index]:
                self._encode_limits(day)
        return self._begin + arguments((request, lease * MICROSECONDS, tokens, prompt, cost)) + self._tail

    def finish(
        self, request: bytes, took: tuple[int, int, int], loaded: tuple[int, ...], windows: tuple[str, ...],
        *, unregistered: bool, ended: int,
    ) -> bytes:  # fmt: skip
        """`took`: tokens of the prompt as reserved, all tokens, money. `ended` in milliseconds since 1970."""
        parts: list[bytes | str | int] = [request, *took, 1 if unregistered else 0, ended]
        for account, at, window in zip(self.accounts, loaded, windows, strict=True):
            parts += (account.limits.tpm, at, window)
        return self._finish + arguments(parts)

    def _encode_limits(self, day: int) -> None:
        parts: list[bytes | str | int] = []
        windows = []
        for account in self.accounts:
            limits = account.limits
            budget = -1 if limits.budget is None else limits.budget
            token_budget = -1 if limits.token_budget is None else limits.token_budget
            window = window_of(limits.reset, day).start
            parts += (limits.rpm, limits.tpm, limits.concurrency, budget, token_budget, window, limits.reset)
            windows.append(str(window) if limits.has_budget else "-")
        self._day, self._limits = day, [account.limits for account in self.accounts]
        self._tail, self.windows = arguments(parts), tuple(windows)


def refusal_of(reply: list[Reply], accounts: tuple[Account, ...], day: int) -> Refusal:
    """The refusal that an answer to `begin` means, with code 1 … 8."""
    code, which, wait = (_number(each) for each in reply[:FIRST_ACCOUNT])
    name, transient = REFUSALS[code]
    account = accounts[which - 1]
    limits = account.limits
    if name == "price":
        return Refusal(name, account.owner, limits.budget or 0, None, account.resets_at(day), transient=False)
    if name in ("rpm", "tpm", "concurrency"):
        return Refusal(name, account.owner, getattr(limits, name), max(wait / MICROSECONDS, 0.001))
    allowed = limits.budget if name == "budget" else limits.token_budget
    window = window_of(limits.reset, day)
    after = None if window.end is None else float((window.end - day) * DAY_SECONDS)
    seconds = CONCURRENCY_WAIT if transient else after
    return Refusal(name, account.owner, allowed or 0, seconds, window.ends_at, transient=transient)


def numbers_of(reply: list[Reply], index: int) -> list[int]:
    """Of one account: microseconds until requests and tokens are free, spent money and tokens, window, loaded at."""
    start = FIRST_ACCOUNT + index * ACCOUNT_NUMBERS
    return [_number(each) for each in reply[start : start + ACCOUNT_NUMBERS]]


def milliseconds(seconds: float) -> int:
    return ceil(seconds * 1000)


def _number(value: Reply) -> int:
    if not isinstance(value, int):
        raise TypeError(f"a number was expected, not {type(value).__name__}")
    return value
