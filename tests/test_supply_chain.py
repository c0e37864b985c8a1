"""Locked, listed, reviewed: what the gateway is made of besides its own code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import uvloop.loop

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ROOT / "requirements"
REVIEW: dict[str, Any] = json.loads((REQUIREMENTS / "advisories.json").read_text(encoding="utf-8"))


def versions(name: str) -> dict[str, str]:
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.M))


def ordered(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


@pytest.mark.parametrize("name", ["runtime", "build", "compiler", "dev", "core", "sdks", "dist", "site"])
def test_every_package_is_pinned_with_hashes(name: str) -> None:
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", text.strip())
    assert entries
    assert [entry for entry in entries if "==" not in entry or "--hash=sha256:" not in entry] == []


def test_dependencies_stay_few() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(project["dependencies"]) <= 8
    assert len(versions("runtime")) <= 15


def test_the_bill_of_materials_lists_every_locked_package() -> None:
    script = REQUIREMENTS / "sbom.py"
    runs = [subprocess.run([sys.executable, script], capture_output=True, check=True).stdout for _ in range(2)]
    assert runs[0] == runs[1]
    bill = json.loads(runs[0])
    assert bill["bomFormat"] == "CycloneDX"
    listed = {(each["name"], each["version"], each["scope"]) for each in bill["components"]}
    assert {(name, version, "required") for name, version in versions("runtime").items()} <= listed
    assert {name for name, _, _ in listed} == {
        *versions("runtime"),
        *versions("build"),
        *versions("compiler"),
        *versions("dev"),
    }
    assert all(each["properties"] for each in bill["components"])


def test_what_runs_was_reviewed_in_this_very_version() -> None:
    assert REVIEW["reviewed_versions"] == versions("runtime"), "review the advisories, then bring the list up to date"


@pytest.mark.parametrize("advisory", REVIEW["advisories"], ids=lambda each: each["id"])
def test_known_holes_are_closed(advisory: dict[str, str]) -> None:
    locked = versions("dev") | versions("compiler") | versions("build") | versions("runtime")
    assert ordered(locked[advisory["package"]]) >= ordered(advisory["fixed"])
    assert advisory["about"]
    assert advisory["source"].startswith("https://")


def test_the_libuv_inside_uvloop_is_past_its_known_hole() -> None:
    number: int = vars(uvloop.loop)["libuv_get_version"]()  # not in its stubs
    assert (number >> 16, number >> 8 & 255) >= (1, 48)  # CVE-2024-24806


def test_the_review_is_fresh() -> None:
    """Judged by the date of the last commit, not by the clock: new work needs a fresh review, old work still builds."""
    git = subprocess.run(["git", "log", "-1", "--format=%cs"], cwd=ROOT, capture_output=True, text=True, check=False)
    if git.returncode or not git.stdout.strip():
        return  # an unpacked archive has no commits, so there is no new work to review
    age = date.fromisoformat(git.stdout.strip()) - date.fromisoformat(REVIEW["reviewed"])
    assert age.days <= REVIEW["max_age_days"], "look for new advisories, then renew requirements/advisories.json"
