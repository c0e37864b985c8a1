"""The pages in a real browser (Debian's Chromium): what people see and do, what hostile text cannot do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Page, expect
from tests.browser.opening import OpenPage, verify_report
from tests.gateway.ui.running import ADMIN_KEY, Pages, pages

from moongate.gateway.inspect.verify_reports import remember_report

pytestmark = pytest.mark.needs("chromium")
SECTIONS = ("requests", "vendors", "usage", "keys", "configuration")


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    folder = tmp_path_factory.mktemp("ui")
    remember_report(folder / "home", verify_report("p,m"), Path("/srv/runs/p"))
    with pages(folder, "--workers", "2") as running:
        running.log_in()
        running.capture_next(1000)
        for said in ("hi", "markers", "hostile", "fail"):
            for stream in (True, False):
                running.row(running.ask(said, stream=stream))
        running.page(running.ask("markers", stream=True, path="/v1/messages"))
        running.row(running.ask(model="a-model-that-nobody-has-and-whose-name-is-rather-long"))
        yield running


def one(page: Page, text: str) -> Page:
    """Open the newest request whose row has a text."""
    page.locator("#rows tr", has_text=text).first.locator(".c-id a").click()
    expect(page.locator("#answer")).to_be_visible()
    return page


def test_somebody_logs_in_and_out(opened: OpenPage) -> None:
    page = opened("/ui", log_in=False)
    expect(page).to_have_url(re.compile("/ui/login$"))
    page.get_by_label("Admin key").fill(ADMIN_KEY)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Requests")).to_be_visible()
    cookie = next(each for each in page.context.cookies() if each["name"] == "moongate_session")
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Admin key")).to_be_visible()
    page.goto(page.url.replace("/login", "/vendors"))
    expect(page.get_by_label("Admin key")).to_be_visible()


def test_rows_appear_as_requests_are_answered_and_pause_when_told(opened: OpenPage, ui: Pages) -> None:
    page = opened("/ui/requests")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    first = ui.ask("markers", stream=True).headers["x-request-id"]
    row = page.locator("#rows tr", has_text=first)
    expect(row).to_contain_text("markers_parsed")
    expect(row.locator(".captured")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    second = ui.ask().headers["x-request-id"]
    ui.rows(f"?id={second}")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#rows tr", has_text=second)).to_be_visible()
    page.locator("#rows tr", has_text=second).locator(".c-status").click()
    expect(page.get_by_role("heading", name=second)).to_be_visible()


def test_a_filter_is_kept_by_the_live_list(opened: OpenPage, ui: Pages) -> None:
    page = opened("/ui/requests")
    page.get_by_label("Worth").select_option("repaired")
    expect(page).to_have_url(re.compile(r"\?worth=repaired$"))
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    clean, repaired = ui.ask().headers["x-request-id"], ui.ask("markers").headers["x-request-id"]
    expect(page.locator("#rows tr", has_text=repaired)).to_be_visible()
    expect(page.locator("#rows tr", has_text=clean)).to_have_count(0)
    page.get_by_role("link", name="Clear").click()
    expect(page.locator("#rows tr", has_text=clean)).to_be_visible()


def test_came_left_and_why_with_marks_replay_and_copies(opened: OpenPage, ui: Pages) -> None:
    reply = ui.ask("markers", stream=True)
    ui.page(reply)
    page = opened(f"/ui/requests/{reply.headers['x-request-id']}")
    expect(page.locator("#why")).to_contain_text("markers_parsed")
    expect(page.locator("#answer mark").first).to_be_visible()
    events = page.locator("#events [data-at]")
    expect(page.locator(".waterfall")).to_be_visible()
    page.get_by_role("button", name="Replay").click()
    expect(page.locator(".event.now")).to_have_count(1)
    expect(page.get_by_role("button", name="Replay")).to_be_visible()
    expect(page.locator(".event.later")).to_have_count(0)
    page.get_by_label("only what was changed").check()
    assert events.count() > page.locator("#events .event.changed").count()
    page.get_by_role("button", name="Copy as curl").click()
    expect(page.locator("#copied")).to_have_text("Copied.")
    assert page.evaluate("navigator.clipboard.readText()").startswith('curl -N "$MOONGATE_URL/v1/chat/completions"')
    page.get_by_role("button", name="Copy as test case").click()
    expect(page.locator("#copied")).to_have_text("Copied.")


def test_hostile_text_is_shown_and_does_nothing(opened: OpenPage, ui: Pages) -> None:
    for stream in (True, False):
        reply = ui.ask("hostile", stream=stream)
        ui.page(reply)
        page = opened(f"/ui/requests/{reply.headers['x-request-id']}")
        expect(page.locator("#answer")).to_contain_text("<script>" if not stream else "script>")
        assert page.evaluate("window.hacked") is None
        assert page.locator("main img, main script").count() == 0
    reply = ui.ask("long line")
    ui.page(reply)
    page = opened(f"/ui/requests/{reply.headers['x-request-id']}")
    expect(page.locator("#answer")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_every_page_passes_axe_and_fits_its_window(opened: OpenPage, scheme: str, width: int) -> None:
    page = opened("/ui/login", width=width, scheme=scheme, log_in=False)
    serious(page)
    page = opened("/ui/requests", width=width, scheme=scheme)
    for section in SECTIONS:
        page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link", name=section.title()).click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        serious(page)
        fits(page)
        if section == "requests":  # without scrolling sideways either
            assert page.evaluate("(list => list.scrollWidth <= list.clientWidth)(document.querySelector('.scroll'))")
    page.goto(page.url.replace("/configuration", "/requests"))
    one(page, "markers_parsed")
    serious(page)
    fits(page)


def serious(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in found
            if each["impact"] in ("serious", "critical")] == []  # fmt: skip


def fits(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_the_keyboard_is_enough(opened: OpenPage) -> None:
    page = opened("/ui/requests")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator("#rows tr .c-id a").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Why")).to_be_visible()


def test_the_theme_is_kept(opened: OpenPage) -> None:
    page = opened("/ui/requests")
    page.locator("#theme").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto(page.url.replace("/requests", "/vendors"))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_key_is_made_on_the_page_and_shown_once(opened: OpenPage) -> None:
    page = opened("/ui/keys")
    page.get_by_label("Name").fill("alice")
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".secret code")).to_have_text(re.compile("^mg-"))
    page.get_by_role("link", name="Keys").click()
    expect(page.locator(".secret")).to_have_count(0)
    expect(page.get_by_role("cell", name="alice")).to_be_visible()


def test_disabling_a_key_is_asked_first(opened: OpenPage) -> None:
    page = opened("/ui/keys")
    page.get_by_label("Name").fill("bob")
    page.get_by_role("button", name="Create").click()
    row = page.locator("tr", has_text="bob")
    page.once("dialog", lambda dialog: dialog.dismiss())
    row.get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("active")
    page.once("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Disable").click()
    expect(row).to_contain_text("disabled")
