"""What an answer was worth, as a value."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from moongate.chat.verdict import ABORTED, CLEAN, FAILED, REPAIRED, Verdict, verdict_of_error, worst
from moongate.errors import BadRequest, BadUpstream, GatewayError, UpstreamRefused, UpstreamTimeout


def test_a_verdict_is_a_value_that_cannot_change() -> None:
    verdict = Verdict("damaged", ("leaked",))
    assert verdict == Verdict("damaged", ("leaked",))
    with pytest.raises(FrozenInstanceError):
        verdict.worth = "clean"  # type: ignore[misc]


def test_the_worst_verdict_of_a_chain_counts_and_kinds_are_joined() -> None:
    damaged = Verdict("damaged", ("leaked",))
    assert worst([]) == CLEAN
    assert worst([CLEAN, REPAIRED]) == REPAIRED
    assert worst([Verdict("damaged", ("unknown_tool",)), REPAIRED, damaged]) == Verdict(
        "damaged", ("leaked", "unknown_tool")
    )
    assert worst([CLEAN, ABORTED, damaged]) == ABORTED
    assert worst([ABORTED, FAILED, damaged]) == FAILED


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (BadUpstream("cut"), FAILED),
        (UpstreamTimeout("slow"), FAILED),
        (UpstreamRefused("busy", status=429), FAILED),
        (UpstreamRefused("slow", status=408), FAILED),
        (UpstreamRefused("broken", status=503), FAILED),
        (GatewayError("ours"), FAILED),
        (UpstreamRefused("too long", status=400), ABORTED),
        (BadRequest("wrong"), ABORTED),
    ],
)
def test_an_error_of_the_client_is_not_the_vendors_failure(error: GatewayError, verdict: Verdict) -> None:
    assert verdict_of_error(error) == verdict
