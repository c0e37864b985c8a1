"""For all tests: Hypothesis takes the same examples on every machine, and does not judge a machine for being slow."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "moongate", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=False
)
settings.load_profile("moongate")
