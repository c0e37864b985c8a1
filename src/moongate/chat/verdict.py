"""What an answer was worth (section 13), for counters, routing and the guard."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from moongate.errors import GatewayError
from moongate.payload import JsonObject

Worth = Literal["clean", "repaired", "damaged", "failed", "aborted"]

# From the best to the worst. An answer whose end one part of a chain never saw is not over, whatever the others say.
_ORDER: Final[tuple[Worth, ...]] = ("clean", "repaired", "damaged", "aborted", "failed")
_TRANSIENT: Final = frozenset({408, 429})  # statuses below 500 that are the provider's fault


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kinds`: what is damaged, in order of the alphabet; empty unless the worth is `damaged`.

    >>> Verdict("damaged", ("invalid_json",))
    Verdict(worth='damaged', kinds=('invalid_json',))
    """

    worth: Worth
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplacedAnswer:
    """An answer of the provider in whose place another one left."""

    verdict: Verdict
    usage: JsonObject | None


CLEAN: Final = Verdict("clean")
REPAIRED: Final = Verdict("repaired")
FAILED: Final = Verdict("failed")
ABORTED: Final = Verdict("aborted")


def verdict_of_error(error: GatewayError) -> Verdict:
    """For an error that came instead of an answer, or cut it. An error of the client's is no answer to be judged."""
    return FAILED if error.status >= 500 or error.status in _TRANSIENT else ABORTED


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The verdict of several exchanges about one answer; `clean` if there are none."""
    found = list(verdicts)
    worth: Worth = max((each.worth for each in found), key=_ORDER.index, default="clean")
    kinds = {kind for each in found for kind in each.kinds} if worth == "damaged" else ()
    return Verdict(worth, tuple(sorted(kinds)))
