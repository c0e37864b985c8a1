"""The list of requests in a real browser when the connection that keeps it up to date breaks."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.browser.opening import TIMEOUT
from tests.gateway.ui.running import Pages, pages, until

pytestmark = pytest.mark.needs("chromium")


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    with pages(tmp_path_factory.mktemp("live"), "--workers", "2") as running:
        yield running


def opened(browser: Browser, ui: Pages) -> Page:
    ui.log_in()
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(TIMEOUT)
    name, _, value = ui.cookie.partition("=")
    context.add_cookies([{"name": name, "value": value, "url": ui.admin + "/ui"}])
    page = context.new_page()
    page.goto(ui.admin + "/ui/requests")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    return page


def test_each_request_stands_there_once_after_a_worker_has_died(browser: Browser, ui: Pages) -> None:
    page = opened(browser, ui)
    names = [ui.ask().headers["x-request-id"] for _ in range(3)]
    for name in names:
        expect(page.locator("#rows tr", has_text=name)).to_have_count(1)
    page.evaluate("document.body.dataset.isOld = 'yes'")
    pid = ui.served.process.pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():  # one of them serves the pages
        before = serving(ui)
        os.kill(int(child), signal.SIGKILL)
        until(lambda before=before: (found := serving(ui)) and found != before)  # type: ignore[misc]
    expect(page.locator("body[data-is-old]")).to_have_count(0)
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    names.append(until(lambda: ui.ask()).headers["x-request-id"])
    for name in names:
        expect(page.locator("#rows tr", has_text=name)).to_have_count(1)
    page.context.close()


def test_filters_offer_what_has_come_since_the_page_was_opened(browser: Browser, ui: Pages) -> None:
    page = opened(browser, ui)
    choice = page.locator("select[name=model]")
    name = f"a-new-model-{ui.ask().headers['x-request-id']}"
    expect(choice.locator("option", has_text=name)).to_have_count(0)
    asked = [ui.ask(model=name).headers["x-request-id"] for _ in range(2)]
    for each in asked:
        expect(page.locator("#rows tr", has_text=each)).to_be_visible()
    expect(choice.locator("option", has_text=name)).to_have_count(1)
    repaired = ui.ask("markers").headers["x-request-id"]
    expect(page.locator("#rows tr", has_text=repaired)).to_be_visible()
    values = "select => [...select.options].map(option => option.value)"
    assert page.locator("select[name=repair]").evaluate(values)[:2] == ["", "any"]
    assert "markers_parsed" in page.locator("select[name=repair]").evaluate(values)
    choice.select_option(name)
    expect(page.locator("#rows tr", has_text=repaired)).to_have_count(0)
    for each in asked:
        expect(page.locator("#rows tr", has_text=each)).to_be_visible()
    page.context.close()


def serving(ui: Pages) -> list[str]:
    """The processes that answer, if both do."""
    try:
        text = ui.get("/ui/configuration").body.decode()
    except OSError:
        return []
    found = re.findall(r'<td class="n">(\d+)</td><td><span class="chip good">answers', text)
    return found if len(found) == 2 else []


def test_a_list_whose_session_has_ended_says_so_and_leads_to_the_login(browser: Browser, ui: Pages) -> None:
    page = opened(browser, ui)
    ui.form("/ui/logout", {})
    page.evaluate("() => { document.getElementById('live').click(); document.getElementById('live').click(); }")
    expect(page.locator("#live")).to_have_text("Load again")
    page.locator("#live").click()
    expect(page.get_by_label("Admin key")).to_be_visible()
    page.context.close()
