"""Prints what the changelog says of a tag's version; fails if tag, package and changelog do not agree.

python requirements/release_check.py v1.2.3
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def package_version() -> str:
    """`moongate.__version__`, without importing it."""
    text = (ROOT / "src" / "moongate" / "__init__.py").read_text(encoding="utf-8")
    (version,) = re.findall(r'^__version__: Final = "(.+)"$', text, re.MULTILINE)
    return str(version)


def notes_of(version: str, changelog: str) -> str:
    """The part of the changelog for a version that has a date. Raises ValueError."""
    parts = re.split(r"^## ", changelog, flags=re.MULTILINE)
    for part in parts[1:]:
        title, _, text = part.partition("\n")
        if title.split(" ")[0] == version:
            if not re.fullmatch(r"\S+ \(\d{4}-\d\d-\d\d\)", title):
                raise ValueError(f"CHANGELOG.md: {title!r} has no date: write '{version} (2026-01-31)'")
            return text.strip()
    raise ValueError(f"CHANGELOG.md has no part for {version}")


def main(tag: str) -> int:
    version = package_version()
    if tag != f"v{version}":
        print(f"the tag is {tag}, but the package has the version {version}", file=sys.stderr)
        return 1
    try:
        print(notes_of(version, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
