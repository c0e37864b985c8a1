"""Frameworks with many dependencies, in an environment of their own: `make test-sdks`."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("litellm") is not None else ["test_*.py"]
