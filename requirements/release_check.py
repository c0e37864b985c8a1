"""Prints what the changelog says of a tag's version; fails if tag, package and changelog do not agree, or if the
addresses in the metadata are not those of the repository that it runs in (`GITHUB_REPOSITORY`).

python requirements/release_check.py v1.2.3
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
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


def wrong_urls(repository: str) -> list[str]:
    """Addresses of the metadata that do not belong to a repository, written OWNER/NAME."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    owner, _, name = repository.lower().partition("/")
    known = (f"https://github.com/{owner}/{name}", f"https://{owner}.github.io/{name}")
    return [f"{label} = {url}" for label, url in urls.items() if not url.lower().startswith(known)]


def main(tag: str) -> int:
    version = package_version()
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    if repository and (wrong := wrong_urls(repository)):
        print(f"[project.urls] of pyproject.toml does not name {repository}: {'; '.join(wrong)}", file=sys.stderr)
        return 1
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
