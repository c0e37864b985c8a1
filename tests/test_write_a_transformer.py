"""Every file of docs/write-a-transformer.md, laid out as the page says, and run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parent.parent / "docs" / "write-a-transformer.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"```\w+ file=(\S+)\n(.*?)```", PAGE, re.DOTALL))
SOURCE = Path(__file__).parent.parent / "src"
WAIT = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("page")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "MOONSHOT_API_KEY": "sk-example", "HOME": str(folder)}
    if path is not None:
        environ["PYTHONPATH"] = os.pathsep.join([str(path), environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=WAIT, check=False)


def test_ten_lines() -> None:
    assert len([line for line in FILES["label.py"].splitlines() if line.strip()]) <= 10


def test_the_file_beside_the_configuration(folder: Path) -> None:
    done = run(folder, "moongate", "check")
    assert done.returncode == 0, done.stderr
    assert "chain: Label" in done.stdout


def test_answers() -> None:
    space: dict[str, object] = {}
    exec(compile(FILES["polite.py"], "polite.py", "exec"), space)
    polite = space["Polite"]
    assert isinstance(polite, type)
    assert polite().begin({}).reply({"choices": []}) == {"choices": [], "served_by": "us"}


def test_the_package_is_installed_found_and_tested(folder: Path) -> None:
    installed, package = folder / "installed", folder / "moongate-label"
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check")
    done = run(folder, "pip", "install", *options, "--target", str(installed), str(package))
    assert done.returncode == 0, done.stderr
    config = (folder / "config.json").read_text().replace('["Label"', '["InstalledLabel"')
    (folder / "installed.json").write_text(config)
    shown = run(folder, "moongate", "check", "--config", "installed.json", path=installed)
    assert shown.returncode == 0, shown.stderr
    assert "chain: InstalledLabel" in shown.stdout
    assert 'team: "search"' in shown.stdout
    (folder / "wrong.json").write_text(config.replace('"team": "search"', '"team": ""'))
    wrong = run(folder, "moongate", "check", "--config", "wrong.json", path=installed)
    assert wrong.returncode == 2
    assert "needs a team" in wrong.stderr
    tested = run(package, "pytest", "-q", "-p", "no:cacheprovider", "test_moongate_label.py", path=installed)
    assert tested.returncode == 0, tested.stdout
    assert "6 passed" in tested.stdout
