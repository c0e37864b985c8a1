"""The misbehaviours of the simulator through which a tool loop must end well."""

from __future__ import annotations

from moongate.sim import ROWS
from moongate.sim.rows import MARKUP_FAMILIES

# Rows that end in an error (tests/gateway/test_failures.py), wait for real (below), or are no misbehaviour.
FAILING = {"broken", "broken-chunk", "stalled", "error-mid", "429", "500", "quota"}
APART = {"slow", "long", "awkward", "no-arguments", "429-once", "silent-arguments", "code-tags"}
# Modes of the provider, and calls that no client with functions can answer.
OTHERS = {"strict-count", "max-tokens", "nameless-calls", "custom-calls"}
PLAYED = [
    (family, row.name)
    for row in ROWS
    for family in row.families or MARKUP_FAMILIES
    if row.group not in ("host", "refusal", "damage") and row.name not in FAILING | APART | OTHERS
    if family == "k2" or row.group not in ("framing", "fault")  # these know nothing of families
]
FIRST = {"k2": "k2.5", "k3": "k3"}  # generations that think, so that reasoning has to survive as well
# The same for clients without a gateway: faults before an answer are retried by the SDKs themselves.
ANSWERED = [(family, row) for family, row in PLAYED if not row.endswith("-once")]
