"""Frameworks with many dependencies, in an environment of their own: `make test-sdks`."""

from __future__ import annotations

import importlib.util
import os

collect_ignore_glob = [] if importlib.util.find_spec("litellm") is not None else ["test_*.py"]

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it is fetched from the network
