"""The site as a reader has it on the disk, without a network: complete, self-contained, and its search works."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ["MOONGATE_SITE"])
PAGES = sorted(SITE.rglob("*.html"))
TIMEOUT = 60_000.0


def test_every_page_of_the_docs_is_on_the_site() -> None:
    sources = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    found = {path.relative_to(SITE).with_suffix("") for path in PAGES}
    names = {path.with_name("index") if path.name == "README" else path for path in sources}
    assert names <= found
    assert len(names) > 40


def test_nothing_of_python_is_on_the_site() -> None:
    assert [path for path in SITE.rglob("*") if path.suffix in (".py", ".pyc") or path.name == "__pycache__"] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(SITE)))
def test_a_page_needs_nothing_from_elsewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    loaded = re.findall(
        r'<(?:script|img|iframe)[^>]*\bsrc="([^"]+)"|<link[^>]*rel="stylesheet"[^>]*href="([^"]+)"', text
    )
    addresses = [address for pair in loaded for address in pair if address]
    assert [address for address in addresses if "://" in address] == []
    here = [address.partition("?")[0] for address in addresses if not address.startswith("/")]
    assert [address for address in here if not (page.parent / address).exists()] == []


def test_no_link_of_a_page_leads_nowhere() -> None:
    """Also to a part of another page, and to the pictures."""
    ids = {path: set(re.findall(r'\bid="([^"]+)"', path.read_text(encoding="utf-8"))) for path in PAGES}
    wrong = []
    for page in PAGES:
        for link in re.findall(r'<a[^>]*\bhref="([^"]+)"', page.read_text(encoding="utf-8")):
            target, _, part = link.partition("#")
            if "://" in target or target.startswith(("mailto:", "/")):
                continue
            file = (page.parent / target).resolve() if target else page
            if not file.exists() or (part and part not in ids.get(file, {part}) and not part.startswith("__")):
                wrong.append((page.name, link))
    assert wrong == []


@pytest.fixture
def start() -> Iterator[Page]:
    flags = ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags, timeout=TIMEOUT)
        context = browser.new_context(offline=True)
        context.set_default_timeout(TIMEOUT)
        page = context.new_page()
        page.goto((SITE / "index.html").as_uri())
        yield page
        browser.close()


@pytest.mark.needs("chromium")
@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("tool-call-parser", "vLLM"),
        ("Copilot", "Copilot CLI"),
        ("markers in the text", "Markers in the text"),
        ("KimiTransport", "moongate.httpx.KimiTransport"),
    ],
)
def test_search_works_offline(start: Page, words: str, title: str) -> None:
    start.locator("input.md-search__input").fill(words)
    found = start.locator(".md-search-result__link")
    expect(found.first).to_be_visible(timeout=TIMEOUT)
    expect(found.filter(has_text=title).first).to_be_visible(timeout=TIMEOUT)
