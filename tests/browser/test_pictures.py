"""The pictures of the documentation: three vendors that the simulator plays, asked by two people and a job.

`SCREENSHOTS=docs/ui` writes them. Otherwise the same pages are opened, and must show what the pictures are for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.browser.opening import OpenPage, verify_report
from tests.cli.served import serving, write
from tests.gateway.ui.running import ADMIN_KEY, Pages
from tests.support.background import Background
from tests.support.canary import WATCH
from tests.support.http import Reply, post

from moongate.gateway.inspect.verify_reports import remember_report
from moongate.sim.server import start

pytestmark = pytest.mark.needs("chromium")
K3, K2, OLD = "kimi-k3", "moonshotai/kimi-k2.6", "moonshotai/Kimi-K2.5"
PROVIDERS = {  # what the simulator plays, and the model with its price
    "moonshot": ("slow", K3, {"input": 3.0, "cache_read": 0.3, "output": 15.0}),
    "openrouter": ("openrouter-markers-slow", K2, {"input": 0.95, "cache_read": 0.16, "output": 4.0}),
    "together": ("500", OLD, {"input": 0.6, "cache_read": 0.1, "output": 3.0}),
}
KEYS = {name: f"canary-client-key-of-{name}-0123456789" for name in ("anna", "ben", "ci")}
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file of the project.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    },
}
ASKED = (
    ("anna", K3, "Why does the login test fail?"),
    ("ben", K3, "Rename Client to ApiClient."),
    ("ci", K2, "Review the last commit."),
    ("ci", K3, "Review the last commit."),
    ("ben", "kimi-k4", "Which file reads the configuration?"),
    ("ben", OLD, "Which file reads the configuration?"),
    ("anna", K3, "Write a test for the parser."),
    ("anna", K2, "Which file reads the configuration?"),
)


def settings(root: str) -> dict[str, Any]:
    return {
        "providers": [
            {"name": name, "api_base_url": f"{root}/{rows}/v1", "api_key": "$UPSTREAM_KEY",
             "models": [{"name": model, "price": price}],
             "transformer": {"use": [["Kimi", {"preset": "agent"}]]}}
            for name, (rows, model, price) in PROVIDERS.items()
        ],
        "api_keys": [{"key": key, "name": name} for name, key in KEYS.items()],
        "admin": {"port": 0, "key": ADMIN_KEY},
    }  # fmt: skip


def ask(ui: Pages, who: str, model: str, said: str) -> Reply:
    body = {"model": model, "stream": True, "messages": [{"role": "user", "content": said}], "tools": [TOOL]}
    return post(f"{ui.root}/v1/chat/completions", body, key=KEYS[who])


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    folder = tmp_path_factory.mktemp("pictures")
    WATCH.know([ADMIN_KEY, *KEYS.values()])
    remember_report(folder / "home", verify_report(f"openrouter,{K2}"), Path("/srv/runs/openrouter-kimi-k2.6"))
    with Background() as background:
        write(folder, settings(background.start(start()).url.removesuffix("/v1")))
        with serving(folder, "--workers", "2") as served:
            running = Pages(served.root(), served.find(r"admin: (http://\S+)", err=True)[1], served)
            running.log_in()
            running.capture_next(50)
            for who, model, said in ASKED:
                running.row(ask(running, who, model, said))
            yield running


def picture(page: Page, name: str, *, whole: bool = False) -> None:
    folder = os.environ.get("SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=whole)


def test_the_login(opened: OpenPage) -> None:
    page = opened("/ui/login", log_in=False)
    expect(page.get_by_label("Admin key")).to_be_visible()
    picture(page, "login")


def test_the_list_has_tokens_costs_and_repairs(opened: OpenPage) -> None:
    page = opened("/ui/requests")
    row = page.locator("#rows tr", has_text="markers_parsed").first
    expect(row.locator(".c-tokens")).to_contain_text("+")
    expect(row.locator(".c-cost")).to_contain_text("$0.")
    expect(page.locator("#rows tr")).to_have_count(len(ASKED))
    picture(page, "requests")


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [("request", 1280, "light"), ("request-dark", 1280, "dark"), ("request-phone", 390, "dark")],
)
def test_a_request_that_was_repaired(opened: OpenPage, name: str, width: int, scheme: str) -> None:
    page = opened("/ui/requests", width=width, scheme=scheme)
    page.locator("#rows tr", has_text="markers_parsed").first.locator(".c-id a").click()
    expect(page.locator("#answer mark").first).to_be_visible()
    expect(page.locator(".waterfall")).to_be_visible()
    picture(page, name, whole=name == "request")


def test_vendors(opened: OpenPage) -> None:
    page = opened("/ui/vendors")
    for provider, (_, model, _) in PROVIDERS.items():
        expect(page.locator("main")).to_contain_text(provider)
        expect(page.locator("main")).to_contain_text(model)
    expect(page.locator("main")).to_contain_text("calls fit their schemas")
    picture(page, "vendors", whole=True)


def test_usage_by_key(opened: OpenPage) -> None:
    page = opened("/ui/usage")
    for name in KEYS:
        expect(page.get_by_role("cell", name=name)).to_be_visible()
    picture(page, "usage")


def test_keys_of_people_and_jobs(opened: OpenPage) -> None:
    page = opened("/ui/keys")
    for name, requests, budget in (("carla", "60", "20"), ("dario", "60", "20"), ("nightly", "600", "150")):
        page.get_by_label("Name").fill(name)
        page.get_by_label("Requests / min").fill(requests)
        page.get_by_label("Budget, $").fill(budget)
        page.get_by_label("Reset").fill("month")
        page.get_by_role("button", name="Create").click()
        expect(page.locator(".secret code")).to_be_visible()
    page.get_by_role("link", name="Keys").click()
    expect(page.locator(".secret")).to_have_count(0)
    expect(page.get_by_role("cell", name="nightly")).to_be_visible()
    picture(page, "keys")


def test_the_configuration(opened: OpenPage) -> None:
    page = opened("/ui/configuration")
    expect(page.locator("main")).to_contain_text("openrouter")
    picture(page, "configuration")
