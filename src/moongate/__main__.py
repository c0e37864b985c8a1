"""`python -m moongate`."""

from __future__ import annotations

import sys

from moongate.cli import main

if __name__ == "__main__":
    sys.exit(main())
