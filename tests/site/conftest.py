"""Tests of the built documentation: `make test-site`, which builds it first."""

from __future__ import annotations

import os

# Elsewhere there may be no site, or an old one.
collect_ignore_glob = [] if os.environ.get("MOONGATE_SITE") else ["test_*.py"]
