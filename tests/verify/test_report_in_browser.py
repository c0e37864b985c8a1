"""The HTML report in Debian's Chromium: no error, no request, readable on a phone, in light and dark.

`VENDOR_PICTURES=docs/vendors` writes the pictures of the documentation; it needs a font with Chinese characters, such
as that of fonts-wqy-microhei.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.cli.sample import run
from tests.support.background import Background

from moongate.sim.server import start

pytestmark = pytest.mark.needs("chromium")
TIMEOUT = 60_000.0
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
PHONE, DESK = 390, 1280
PICTURES = os.environ.get("VENDOR_PICTURES")
VENDORS = {  # docs/vendors.md describes them
    "good": "kimi-k2-sim",
    "sloppy": "kimi-k2-sim-valid-90-wrong-types-unknown-properties-leaked-markers-wrong-finishes-foreign-ids-seed-1",
    "broken": "kimi-k2-sim-valid-60-broken-json-unknown-tools-empty-turns-lost-names-missing-calls-needless-calls"
    "-null-finish-seed-1",
}
SMALLEST = "Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height))"
BROKEN_INTERVALS = "[...document.querySelectorAll('td span')].filter(e => e.getClientRects().length > 1).length"
CONTRAST = """() => {
  const lightness = text => { const [r, g, b] = text.match(/[0-9.]+/g).map(n => n / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b }
  const ground = element => { for (; element; element = element.parentElement) {
      const colour = getComputedStyle(element).backgroundColor
      if (!colour.startsWith('rgba(0, 0, 0, 0')) return colour }
    return 'rgb(255, 255, 255)' }
  return Math.min(...[...document.querySelectorAll('h1,h2,h3,p,li,th,td,dt,dd,small,svg text')].map(element => {
    const style = getComputedStyle(element)
    const ink = lightness(element.closest('svg') ? style.fill : style.color), paper = lightness(ground(element))
    return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) })) }"""

COVERED = """() => [...document.querySelectorAll('svg .name')].filter(name => {
  const text = name.getBoundingClientRect()
  return [...name.closest('svg').querySelectorAll('rect, g')].some(shape => {
    const drawn = shape.getBoundingClientRect()
    return drawn.left < text.right && drawn.top < text.bottom && text.top < drawn.bottom })
  }).map(name => name.textContent)"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("verify")
    with Background() as background, contextlib.chdir(folder):
        vendor = background.start(start())
        for name, model in VENDORS.items():
            assert run(["verify", "--base-url", vendor.url, "--model", model, "--out", str(folder / name)]) == 0
    return {name: folder / name / "report.html" for name in VENDORS}


@pytest.fixture(scope="module")
def report(reports: dict[str, Path]) -> Path:
    return reports["broken"]


@pytest.fixture(scope="module")
def browser(report: Path) -> Iterator[Browser]:
    """After the report: its API runs an event loop in this thread, and so does the command."""
    assert report.exists()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS, timeout=TIMEOUT)
        yield found
        found.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_report_is_sound_in_a_browser(browser: Browser, report: Path, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 860}, color_scheme="dark" if scheme == "dark" else "light"
    )
    context.set_default_timeout(TIMEOUT)
    problems: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda asked: None if asked.url == report.as_uri() else problems.append(asked.url))
    page.goto(report.as_uri())
    page.wait_for_load_state("networkidle")
    _has_everything(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(SMALLEST) >= 10  # pixels, of the smallest text in a chart
    assert page.evaluate(BROKEN_INTERVALS) == 0
    assert page.locator("td span").count() > 0
    assert page.evaluate(CONTRAST) >= 4.5  # what WCAG calls AA
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert dark == (scheme == "dark")
    context.close()
    assert problems == []


def _has_everything(page: Page) -> None:
    assert page.locator("article").count() == 10
    for article in page.locator("article").all():
        assert article.locator("dt").all_inner_texts() == ["asked", "came", "left", "why"]
    assert page.locator("svg").count() == 3
    assert page.locator("thead th").all_inner_texts()[1:] == ["raw", "repaired"]
    assert "…" in page.locator("tbody td").first.inner_text()  # an interval
    assert "sends two requests" in page.locator("footer").inner_text()


@pytest.mark.parametrize(("vendor", "rates"), [("good", {100.0}), ("sloppy", None), ("broken", None)])
def test_vendors_look_as_they_are(
    browser: Browser, reports: dict[str, Path], vendor: str, rates: set[float] | None
) -> None:
    page = browser.new_page(viewport={"width": 820, "height": 860})
    page.goto(reports[vendor].as_uri())
    cells = [cell.partition(" %")[0] for cell in page.locator("tbody td").all_inner_texts()]
    measured = {float(cell) for cell in cells if cell != "–"}
    assert measured == rates if rates else min(measured) < 99 < max(measured)
    assert page.locator("article").count() == (0 if vendor == "good" else 10)
    if PICTURES:
        _picture(page, vendor, "section:has(h2:text-is('Details'))")
        if vendor == "sloppy":
            page.locator("section:has(article)").evaluate("e => e.parentElement.replaceChildren(e)")
            _picture(page, "examples", "article:nth-of-type(6)")
    page.close()


def _picture(page: Page, name: str, end: str) -> None:
    """Of the page down to an element."""
    box = page.locator(end).bounding_box()
    assert box is not None
    clip = {"x": 0.0, "y": 0.0, "width": 820.0, "height": box["y"]}
    page.screenshot(path=f"{PICTURES}/{name}.png", clip=clip, full_page=True)  # type: ignore[arg-type]


@pytest.mark.parametrize("vendor", VENDORS)
def test_no_name_in_a_chart_is_covered_on_a_phone(browser: Browser, reports: dict[str, Path], vendor: str) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 860})
    page.goto(reports[vendor].as_uri())
    assert page.evaluate(COVERED) == []
    page.close()


def test_a_page_that_asks_somebody_is_noticed(browser: Browser, report: Path) -> None:
    """The policy of the page forbids everything but its own style, so a script in an example does not run."""
    hostile = report.with_name("hostile.html")
    hostile.write_text(report.read_text().replace("</main>", "<script>document.title='ran'</script></main>"))
    page = browser.new_page()
    page.goto(hostile.as_uri())
    assert page.title() != "ran"
    page.close()
