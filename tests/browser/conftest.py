"""Debian's Chromium, and pages in it that fail a test when they write an error or ask anybody else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.browser.opening import FLAGS, TIMEOUT, OpenPage
from tests.gateway.ui.running import Pages

expect.set_options(timeout=TIMEOUT)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS, timeout=TIMEOUT)
        yield found
        found.close()


@pytest.fixture
def opened(browser: Browser, ui: Pages) -> Iterator[OpenPage]:
    """Opens a page as somebody who is logged in. Fails if the page writes an error, or asks anybody else."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def open_page(
        path: str, *, width: int = 1280, height: int = 860, scheme: str = "light", log_in: bool = True
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        context.set_default_timeout(TIMEOUT)
        if log_in:
            name, _, value = ui.cookie.partition("=")
            context.add_cookies([{"name": name, "value": value, "url": ui.admin + "/ui"}])
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(ui.admin) else problems.append(asked.url))
        page.goto(ui.admin + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
