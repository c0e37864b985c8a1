"""For all tests: plugins in `tests/support`, and one Hypothesis profile.

Hypothesis takes the same examples on every machine and has no deadline, so that a slow machine fails no test. It is
absent where only the core is tested (`make test-core`).
"""

from __future__ import annotations

import gc
import importlib.util

pytest_plugins = [
    "tests.support.canary_hooks",
    "tests.support.compiled_hooks",
    "tests.support.requirement_hooks",
]

if importlib.util.find_spec("hypothesis") is not None:
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "moongate", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=False
    )
    settings.load_profile("moongate")


def pytest_collection_finish() -> None:
    """Exclude all test items from garbage collection: with thousands of them a full collection takes half a second."""
    gc.collect()
    gc.freeze()
