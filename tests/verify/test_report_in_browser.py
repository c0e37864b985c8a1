"""The HTML report in Debian's Chromium: no error, no request, nothing wider than a phone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.cli.sample import run
from tests.support.background import Background

from moongate.sim.server import start

TIMEOUT = 120.0
PHONE = 390


def _chromium(folder: Path, page: Path, *options: str) -> tuple[str, str]:
    """What it prints and what it logs, the page's console among it."""
    command = [
        *("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
        *(f"--user-data-dir={folder / 'profile'}", "--enable-logging=stderr", "--v=0", "--virtual-time-budget=2000"),
        *("--disable-background-networking", *options, page.as_uri()),
    ]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=True)
    return done.stdout.decode(), done.stderr.decode(errors="replace")


@pytest.mark.needs("chromium")
def test_the_report_is_sound_in_a_browser(tmp_path: Path) -> None:
    model = "kimi-k2-sim-valid-60-leaked-markers-wrong-types-wrong-finishes-missing-calls"
    with Background() as background:
        vendor = background.start(start())
        out = str(tmp_path / "out")
        assert run(["verify", "--base-url", vendor.url, "--model", model, "--out", out, "--suite", "tools,schema"]) == 0
    report = tmp_path / "out" / "report.html"
    html = report.read_text()
    assert html.count("<article>") == 10
    shown, log = _chromium(tmp_path, report, "--dump-dom")
    assert "Worst examples" in shown
    assert "CONSOLE" not in log
    # Whatever the page loads would stand in one of these; and its policy forbids all but its own style.
    assert set(re.findall(r"""(?:src|href|url\()=?["']?([^"')> ]+)""", html)) == {"data:,"}
    assert "default-src 'none'; style-src 'unsafe-inline'" in html
    assert "prefers-color-scheme:dark" in html


@pytest.mark.needs("chromium")
def test_nothing_is_wider_than_a_phone(tmp_path: Path) -> None:
    with Background() as background:
        vendor = background.start(start())
        address = ["--base-url", vendor.url, "--model", "kimi-k2-sim-valid-50", "--out", str(tmp_path / "out")]
        assert run(["verify", *address, "--suite", "tools"]) == 0
    html = (tmp_path / "out" / "report.html").read_text()
    # The page in a frame as wide as a phone, without its policy, so that a script can measure it.
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    told = "parent.postMessage(document.documentElement.scrollWidth,'*')"
    page = page.replace("</main>", f"</main><script>onload=()=>{told}</script>")
    framed = page.replace("&", "&amp;").replace('"', "&quot;")
    (tmp_path / "frame.html").write_text(
        "<!doctype html><script>onmessage=e=>document.body.dataset.width=e.data</script>"
        f'<body><iframe width="{PHONE}" height="800" style="border:0" srcdoc="{framed}"></iframe></body>'
    )
    shown, _ = _chromium(tmp_path, tmp_path / "frame.html", "--dump-dom")
    found = re.search(r'data-width="(\d+)"', shown)
    assert found is not None
    assert int(found[1]) <= PHONE
