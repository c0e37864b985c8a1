"""For `make site`: links that leave docs/ lead to the repository, as they do when the pages are read there."""

from __future__ import annotations

import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SOURCE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
LINK = re.compile(r"(\]\()(\.\./[^)\s#]+)")


def on_page_markdown(markdown: str, page: Any, **_more: Any) -> str:
    folder = posixpath.join("docs", posixpath.dirname(page.file.src_uri))

    def outside(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        if target.startswith("docs/"):
            return link[0]
        kind = "tree" if (ROOT / target).is_dir() else "blob"
        return f"{link[1]}{SOURCE}/{kind}/main/{target}"

    return LINK.sub(outside, markdown)


# The theme loads this from elsewhere.
SHIM_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"
SHIM = "javascripts/iframe-worker.js"


def on_post_page(output: str, page: Any, **_more: Any) -> str:
    return output.replace(SHIM_ELSEWHERE, posixpath.relpath(SHIM, posixpath.dirname(page.url) or "."))


def on_post_template(output_content: str, **_more: Any) -> str:
    return output_content.replace(SHIM_ELSEWHERE, f"/{SHIM}")
