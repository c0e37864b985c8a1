"""What is published: its metadata, its size, what importing it costs, and the workflow that publishes it."""

from __future__ import annotations

import ast
import email
import io
import re
import resource
import subprocess
import sys
import tomllib
import zipfile
from ast import dump
from email.message import Message
from pathlib import Path
from tokenize import COMMENT, generate_tokens
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from packaging.requirements import Requirement
from requirements.release_check import notes_of, package_version, wrong_urls

import moongate

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAX_WHEEL = 1_048_576  # `make dist`, before a release, takes a million bytes at most
POSIX_ONLY = ("fcntl", "resource", "uvloop", "pwd", "grp")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pure wheel, built as pip builds it."""
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "source"
    listed = subprocess.run(["git", "ls-files", "-z", "src"], cwd=ROOT, capture_output=True, check=True, text=True)
    names = [*listed.stdout.split("\0")[:-1], "docs/moongate.1", "pyproject.toml", "setup.py", "README.md", "LICENSE"]
    for name in names:
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
    subprocess.run(command, cwd=copy, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith("/METADATA")]
        return email.message_from_bytes(archive.read(name))


def test_the_wheel_is_small_and_brings_what_is_needed(wheel: Path) -> None:
    assert wheel.stat().st_size < MAX_WHEEL
    assert wheel.name == f"moongate-{moongate.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for needed in ("moongate/py.typed", "moongate/gateway/config/schema.json", "share/man/man1/moongate.1"):
        assert [name for name in names if name.endswith(needed)], needed
    assert {name.split("/")[0] for name in names} == {
        "moongate",
        f"moongate-{moongate.__version__}.data",
        f"moongate-{moongate.__version__}.dist-info",
    }


def test_its_modules_are_the_sources_without_comments(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        modules = {name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".py")}
    assert len(modules) > 500
    for name, text in modules.items():
        source = (ROOT / "src" / name).read_text(encoding="utf-8")
        assert dump(ast.parse(text), include_attributes=True) == dump(ast.parse(source), include_attributes=True), name
        assert not [each for each in generate_tokens(io.StringIO(text).readline) if each.type == COMMENT], name


def test_the_metadata_is_complete(wheel: Path) -> None:
    found = metadata(wheel)
    assert found["Version"] == moongate.__version__ == package_version()
    labels = {each.split(",")[0] for each in found.get_all("Project-URL", [])}
    assert labels == {"Homepage", "Documentation", "Source", "Issues", "Changelog"}
    assert all(f"Programming Language :: Python :: 3.{n}" in found.get_all("Classifier", []) for n in range(11, 15))
    assert found["Keywords"]
    assert found["License-Expression"] == "Apache-2.0"
    text = str(found.get_payload())
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 20
    assert [link for link in links if not link.startswith("https://")] == []


@pytest.mark.parametrize(
    ("system", "python", "wanted"),
    [("linux", "CPython", True), ("darwin", "CPython", True), ("win32", "CPython", False), ("linux", "PyPy", False)],
)
def test_uvloop_is_required_only_where_it_exists(system: str, python: str, wanted: bool) -> None:
    needed = [Requirement(each) for each in PROJECT["project"]["dependencies"]]
    (uvloop,) = [each for each in needed if each.name == "uvloop"]
    assert uvloop.marker is not None
    assert uvloop.marker.evaluate({"sys_platform": system, "platform_python_implementation": python}) is wanted
    assert [each.name for each in needed if each.marker] == ["uvloop"]


def cpu_seconds(*arguments: str) -> float:
    """The least CPU time of a Python process, of several runs."""
    runs = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-I", *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        runs.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(runs)


def test_importing_costs_little() -> None:
    """In units of a Python that imports orjson, about 25 ms: at most 40 ms more, and 120 ms for the version."""
    orjson = cpu_seconds("-c", "import orjson")
    assert cpu_seconds("-c", "import orjson, moongate") < 2.5 * orjson
    assert cpu_seconds("-m", "moongate", "--version") < 4.5 * orjson


def test_the_names_of_the_library_are_imported_when_they_are_used() -> None:
    code = "import sys, moongate; print(sorted(n for n in sys.modules if n.startswith('moongate')), dir(moongate))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("['moongate', 'moongate.switches']")
    assert all(repr(name) in shown for name in moongate.__all__)
    assert all(getattr(moongate, name) is not None for name in moongate.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        moongate.nothing  # noqa: B018


def test_the_library_loads_the_chat_front_alone() -> None:
    code = "import sys; from moongate import *; print(*sorted(n for n in sys.modules if n.startswith('moongate.')))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "moongate.dialects.openai_chat" in shown
    assert [
        name for name in shown if re.match(r"moongate\.(dialects\.(anthropic|openai_resp)|native|gateway|net)", name)
    ] == []


def without_posix(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Python without what Windows does not have."""
    hide = f"import sys; sys.modules.update(dict.fromkeys({POSIX_ONLY}))"
    code = f"{hide}; sys.argv[1:] = {list(arguments)}; from moongate.cli import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_library_runs_without_posix() -> None:
    hide = f"import sys; sys.modules.update(dict.fromkeys({POSIX_ONLY}))"
    code = (
        f"{hide}; import moongate.httpx; from moongate import KimiTransformer, Session; moongate.httpx.KimiTransport()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_runs_without_posix() -> None:
    assert without_posix("--version").stdout == f"moongate {moongate.__version__}\n"
    assert "markers" in without_posix("demo").stdout


RELEASE = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))


def test_the_release_needs_no_stored_secret() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert RELEASE[True] == {"push": {"tags": ["v*"]}}  # YAML reads `on` as a truth
    assert RELEASE["permissions"] == {}
    publish = RELEASE["jobs"]["publish"]
    assert publish["environment"]["name"] == "pypi"
    assert publish["permissions"] == {"id-token": "write", "attestations": "write", "contents": "read"}
    assert set(publish["needs"]) == {"sources", "wheels"}
    used = [step["uses"].split("@")[0] for step in publish["steps"]]
    assert used[-3:] == [
        "actions/attest-build-provenance",
        "actions/attest-sbom",
        "pypa/gh-action-pypi-publish",
    ]


def test_the_release_builds_for_every_python_and_machine() -> None:
    matrix = RELEASE["jobs"]["wheels"]["strategy"]["matrix"]["include"]
    assert {each["name"] for each in matrix} == {"linux-x86_64", "linux-aarch64", "macos-arm64", "macos-x86_64"}
    settings = PROJECT["tool"]["cibuildwheel"]
    versions = [each.rsplit(" ", 1)[1] for each in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert settings["build"] == [f"cp{each.replace('.', '')}-*" for each in versions]
    assert settings["environment"] == {"MOONGATE_COMPILED": "1"}
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    made = [step["run"] for job in RELEASE["jobs"].values() for step in job["steps"] if "make" in step.get("run", "")]
    assert [word for word in made[0].split()[1:] if "=" not in word and word not in targets] == []


def test_a_release_from_another_repository_is_stopped() -> None:
    owner, name = PROJECT["project"]["urls"]["Source"].split("/")[-2:]
    assert wrong_urls(f"{owner}/{name}") == []
    assert len(wrong_urls(f"somebody/{name}")) == len(PROJECT["project"]["urls"])


def test_the_notes_of_a_release_are_its_part_of_the_changelog() -> None:
    changelog = "# Changelog\n\n## 1.1.0 (unreleased)\n\n- b\n\n## 1.0.0 (2026-01-31)\n\n- a\n"
    assert notes_of("1.0.0", changelog) == "- a"
    with pytest.raises(ValueError, match="has no date"):
        notes_of("1.1.0", changelog)
    with pytest.raises(ValueError, match="no part"):
        notes_of("2.0.0", changelog)
    titles = re.findall(r"^## (\S+) \(.+\)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert titles[0] == moongate.__version__
