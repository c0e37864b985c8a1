"""The software bill of materials, made from the lock files: `python requirements/sbom.py > sbom.json`.

CycloneDX 1.6. The same lock files give the same bytes: no clock, no random number.
"""

from __future__ import annotations

import hashlib
import json  # noqa: TID251 (it runs without the package installed)
import re
import sys
import tomllib
from pathlib import Path
from typing import Any
from uuid import UUID

from release_check import package_version  # beside this file

HERE = Path(__file__).parent
_ENTRY = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)([^\\]*)\\?$((?:\n {4}--hash=.*$)*)", re.M)


def locked(name: str) -> list[tuple[str, str, list[str]]]:
    """Name, version and SHA-256 digests of every package of a lock file."""
    text = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    found = _ENTRY.findall(text)
    return [(package, version, re.findall(r"sha256:([0-9a-f]{64})", hashes)) for package, version, _, hashes in found]


def component(name: str, version: str, digests: list[str], scope: str) -> dict[str, Any]:
    url = f"pkg:pypi/{name.lower()}@{version}"
    properties = [{"name": "moongate:distribution-sha256", "value": digest} for digest in digests]
    return {
        "type": "library",
        "bom-ref": url,
        "name": name,
        "version": version,
        "purl": url,
        "scope": scope,
        "properties": properties,
    }


def bill() -> dict[str, Any]:
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = package_version()
    runtime = locked("runtime")
    needed = {name for name, _, _ in runtime}
    found = {each[0]: each for name in ("build", "compiler", "dev") for each in locked(name)}
    others = [each for name, each in found.items() if name not in needed]
    parts = [component(*each, "required") for each in runtime] + [component(*each, "excluded") for each in others]
    own = f"pkg:pypi/{project['name']}@{version}"
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).digest()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{UUID(bytes=digest[:16], version=4)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own,
                "name": project["name"],
                "version": version,
                "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": parts,
        "dependencies": [
            {"ref": own, "dependsOn": [f"pkg:pypi/{name.lower()}@{version}" for name, version, _ in runtime]}
        ],
    }


if __name__ == "__main__":
    json.dump(bill(), sys.stdout, indent=2)
    print()
