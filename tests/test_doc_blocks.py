"""Every block of the documentation is checked by running it: configurations are loaded, programs run, commands parsed.

Commands: `tests/cli/test_quotes.py`. Files of docs/write-a-transformer.md: `tests/test_write_a_transformer.py`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from docs.agent_pages import agent_pages
from tests.support.certificates import CertificateAuthority

from moongate.gateway.config.load import parse_config
from moongate.gateway.routing.routes import Routes

ROOT = Path(__file__).parent.parent
# The documents that others gave us, quoted as they are; pages that the code writes as a whole.
GIVEN = {"original.md", "spec.md", "wire-facts.md"}
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if page.name not in GIVEN and page not in agent_pages()
]
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS = [
    (f"{page.name}-{number}", kind, about.strip(), text)
    for page in PAGES
    for number, (kind, about, text) in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")))
]
KINDS = {"", "text", "sh", "json", "python", "yaml", "toml", "mermaid"}
PROVIDER: dict[str, Any] = {
    "name": "any",
    "api_base_url": "https://llm.example/v1",
    "api_key": "$ANY",
    "models": ["kimi-k2", "moonshotai/Kimi-K2-Instruct"],
}
SECRET = "a-secret-of-at-least-32-characters-000"


def blocks(kind: str) -> list[Any]:
    return [pytest.param(text, id=name) for name, found, about, text in BLOCKS if found == kind and not about]


def documents(text: str) -> list[dict[str, Any]]:
    """The JSON documents of a block, one behind the other."""
    found, text = [], text.strip()
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        found.append(value)
        text = text[end:].strip()
    return found


def whole(part: dict[str, Any]) -> dict[str, Any]:
    """A whole configuration that has this part of one."""
    if "use" in part:
        part = {"transformer": part}
    if "transformer" in part and "name" not in part:
        part = {**PROVIDER, **part}
    if "models" in part:
        part = {"providers": [part]}
    return {"providers": [PROVIDER], **part}


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    assert {kind for _, kind, _, _ in BLOCKS} <= KINDS
    assert {about.split("=")[0] for _, _, about, _ in BLOCKS if about} <= {"file"}
    assert len(blocks("json")) > 10


@pytest.mark.parametrize("text", blocks("json"))
def test_a_configuration_is_loaded(text: str, tmp_path: Path) -> None:
    for part in documents(text):
        written = re.sub(r"file:/[\w/.-]+", "$FILE", json.dumps(whole(part)))
        pairs = re.findall(r"\$(?:\{(\w+)\}|(\w+))", written)
        environ = {name: f"{SECRET}-{name}" for pair in pairs for name in pair if name}
        if "MOONGATE_STATE" in environ:
            environ["MOONGATE_STATE"] = "redis://127.0.0.1:6379/0"
        if "ca_file" in written:
            _write_certificates(tmp_path)
        Routes(parse_config(written, "config.json", tmp_path, environ))


def _write_certificates(folder: Path) -> None:
    authority = CertificateAuthority.make(folder)
    certificate, key = authority.sign("gateway")
    for source, name in ((authority.file, "corp-ca.pem"), (certificate, "gateway.pem"), (key, "gateway.key")):
        (folder / name).write_bytes(Path(source).read_bytes())
        (folder / name).chmod(0o600)


@pytest.mark.parametrize("text", blocks("yaml"))
def test_a_configuration_of_litellm_is_yaml(text: str) -> None:
    """The callback is run in LiteLLM's proxy by tests/sdks/test_litellm_proxy.py."""
    found = yaml.safe_load(text)
    assert set(found) <= {"litellm_settings", "model_list", "general_settings"}
    if "litellm_settings" in found:
        assert found == {"litellm_settings": {"callbacks": ["moongate.litellm.kimi"]}}


PYTHON = [(name, text) for name, kind, about, text in BLOCKS if kind == "python" and not about]


@pytest.mark.parametrize(("name", "code"), PYTHON, ids=[name for name, _ in PYTHON])
def test_a_program_runs(name: str, code: str) -> None:
    exec(compile(code, name, "exec"), {"__name__": "example"})


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = re.findall(r"([\w./-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    pages = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    pages = {page for page in pages if not re.match(r"decisions/\d", page)}
    assert set(listed) - {"decisions/[0-9]*.md", "]*.md"} == pages, "add the page to nav in mkdocs.yml"
