"""The kit for several gateways: valid by published schemas, unprivileged, without secrets, and with names that fit."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from tests.support.canary import CLIENT_KEY, PROVIDER_KEY

from moongate.gateway.config.limit_settings import Timeouts
from moongate.gateway.http.pages import OPEN_PAGES
from moongate.gateway.record.metrics import FAMILIES
from moongate.gateway.record.quality_metrics import GAUGES
from moongate.gateway.store.writer import CLOSE_SECONDS

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
SCHEMAS = ROOT / "tests" / "deploy_schemas"
SECRETS = {
    "MOONSHOT_API_KEY": PROVIDER_KEY,
    "MOONGATE_CLIENT_KEY": CLIENT_KEY,
    "MOONGATE_ADMIN_KEY": "canary-admin-0123456789-0123456789",
    "MOONGATE_STORE": "postgresql://moongate@127.0.0.1:1/moongate",
    "MOONGATE_STATE": "redis://127.0.0.1:1",
}


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


COMPOSE = read(DEPLOY / "compose.yaml")
KUSTOMIZATION = read(KUBERNETES / "kustomization.yaml")
MANIFESTS = {name: read(KUBERNETES / name) for name in KUSTOMIZATION["resources"]}
BY_NAME = {(each["kind"], each["metadata"]["name"]): each for each in MANIFESTS.values()}
POD = BY_NAME["Deployment", "moongate"]["spec"]["template"]
CONTAINER = POD["spec"]["containers"][0]
GATEWAYS = ["gateway-a", "gateway-b"]


def complaints(value: object, schema: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(value)]


def manifest_complaints(manifest: Any) -> list[str]:
    published = json.loads((SCHEMAS / "kubernetes.json").read_text(encoding="utf-8"))
    return complaints(manifest, {**published["kinds"][manifest["kind"]], "definitions": published["definitions"]})


def test_the_compose_file_is_valid() -> None:
    schema = json.loads((SCHEMAS / "compose.json").read_text(encoding="utf-8"))
    assert complaints(COMPOSE, schema) == []
    assert complaints({**COMPOSE, "services": {"a": {"imagee": "b"}}}, schema) != []


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_manifest_is_valid(name: str) -> None:
    assert manifest_complaints(MANIFESTS[name]) == []
    assert manifest_complaints({**MANIFESTS[name], "specc": {}}) != []


def test_every_manifest_is_part_of_the_base() -> None:
    files = {path.name for path in KUBERNETES.glob("*.yaml")}
    assert files == {"kustomization.yaml", *KUSTOMIZATION["resources"]}
    assert KUSTOMIZATION["configMapGenerator"] == [{"name": "moongate", "files": ["config.json"]}]
    assert "secretGenerator" not in KUSTOMIZATION
    assert not [name for name, each in MANIFESTS.items() if each["kind"] == "Secret"]


def test_pods_are_unprivileged() -> None:
    security, own = POD["spec"]["securityContext"], CONTAINER["securityContext"]
    assert (security["runAsNonRoot"], security["runAsUser"]) == (True, 10001)
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}
    assert (own["readOnlyRootFilesystem"], own["allowPrivilegeEscalation"]) == (True, False)
    assert own["capabilities"] == {"drop": ["ALL"]}
    assert POD["spec"]["automountServiceAccountToken"] is False


def test_the_grace_fits_the_drain() -> None:
    needed = Timeouts().drain + CLOSE_SECONDS
    first = CONTAINER["lifecycle"]["preStop"]["sleep"]["seconds"]
    assert POD["spec"]["terminationGracePeriodSeconds"] > first + needed
    for name in GATEWAYS:
        assert int(COMPOSE["services"][name]["stop_grace_period"].removesuffix("s")) > needed


def test_probes_ask_for_pages_that_need_no_key() -> None:
    probes = [CONTAINER[f"{kind}Probe"]["httpGet"] for kind in ("startup", "readiness", "liveness")]
    assert {probe["path"] for probe in probes} == {"/health", "/ready"}
    assert all(probe["path"] in OPEN_PAGES and probe["port"] == "http" for probe in probes)


def test_names_and_ports_fit_together() -> None:
    labels = POD["metadata"]["labels"]
    ports = {port["name"] for port in CONTAINER["ports"]}
    for name in ("moongate", "moongate-admin"):
        spec = BY_NAME["Service", name]["spec"]
        assert spec["selector"].items() <= labels.items()
        assert {port["targetPort"] for port in spec["ports"]} <= ports
    for kind, field in (("PodDisruptionBudget", "selector"), ("NetworkPolicy", "podSelector")):
        assert BY_NAME[kind, "moongate"]["spec"][field]["matchLabels"].items() <= labels.items()
    spread = POD["spec"]["topologySpreadConstraints"]
    assert all(each["labelSelector"]["matchLabels"].items() <= labels.items() for each in spread)
    monitor = BY_NAME["ServiceMonitor", "moongate"]["spec"]
    admin = BY_NAME["Service", "moongate-admin"]
    assert monitor["selector"]["matchLabels"].items() <= admin["metadata"]["labels"].items()
    assert monitor["endpoints"][0]["port"] == admin["spec"]["ports"][0]["name"]
    target = BY_NAME["HorizontalPodAutoscaler", "moongate"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) in BY_NAME
    kustomization = (KUBERNETES / "kustomization.yaml").read_text(encoding="utf-8")
    keys = [each["valueFrom"]["secretKeyRef"]["key"] for each in CONTAINER["env"] if "valueFrom" in each]
    assert all(f"--from-literal={key}=" in kustomization for key in keys)


def test_gateways_of_the_compose_file_are_unprivileged_and_are_who_the_others_ask() -> None:
    services = COMPOSE["services"]
    for name in GATEWAYS:
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
    nginx = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    assert re.findall(r"server (\S+):3000 ", nginx) == GATEWAYS
    (job,) = read(DEPLOY / "prometheus.yml")["scrape_configs"]
    assert job["static_configs"] == [{"targets": [f"{name}:3001" for name in GATEWAYS]}]
    volumes = [volume for service in services.values() for volume in service.get("volumes", ())]
    mounted = [volume.partition(":")[0] for volume in volumes if volume.startswith("./")]
    assert mounted
    assert all((DEPLOY / path).exists() for path in mounted)


def test_no_secret_has_a_default() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    wanted = set(re.findall(r"\$\{(\w+):\?", text))
    assert set(re.findall(r"\$\{(\w+)", text)) == wanted
    example = (DEPLOY / "fleet.env.example").read_text(encoding="utf-8")
    assert set(re.findall(r"^(\w+)=$", example, re.M)) == wanted


@pytest.mark.parametrize("name", ["fleet.json", "kubernetes/config.json"])
def test_the_configuration_is_good(name: str, tmp_path: Path) -> None:
    environment = {"PATH": os.defpath, "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **SECRETS}
    command = [sys.executable, "-m", "moongate", "check", "--config", str(DEPLOY / name)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.needs("nginx")
def test_nginx_understands_its_file(tmp_path: Path) -> None:
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    for name in GATEWAYS:
        text = text.replace(f"{name}:", "127.0.0.1:")
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\n" + text.replace("/tmp/moongate-", f"{tmp_path}/"))
    program = shutil.which("nginx")
    assert program is not None
    done = subprocess.run(
        [program, "-t", "-e", str(tmp_path / "log"), "-c", str(tmp_path / "nginx.conf")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_the_template_is_the_unit_for_one_of_several() -> None:
    unit, template = ((DEPLOY / name).read_text(encoding="utf-8") for name in ("moongate.service", "moongate@.service"))
    body = template[template.index("[Unit]") :]
    assert "EnvironmentFile=-/etc/moongate/%i.environment\n" in body
    assert "StateDirectory=moongate-%i\n" in body  # below that of moongate.service, either of them could not start
    body = body.replace("EnvironmentFile=-/etc/moongate/%i.environment\n", "").replace(" (%i)", "")
    body = body.replace("/moongate-%i\n", "/moongate\n").replace("=moongate-%i\n", "=moongate\n")
    assert body.replace("/%i.json", "/config.json") == unit[unit.index("[Unit]") :]


@pytest.mark.needs("systemd")
def test_systemd_understands_the_template(tmp_path: Path) -> None:
    program = tmp_path / "moongate"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / "moongate@.service"
    text = (DEPLOY / "moongate@.service").read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/moongate/bin/moongate", str(program)))
    instance = tmp_path / "moongate@a.service"
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", instance], capture_output=True, text=True, check=False
    )
    assert [line for line in done.stderr.splitlines() if "moongate@" in line] == [], done.stderr


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    known = {*FAMILIES, *GAUGES, "moongate_nodes"}
    for path in [DEPLOY / "grafana-fleet.json"]:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
        asked = set(re.findall(r"moongate_\w+", text))
        assert {re.sub("_(bucket|sum|count)$", "", name) for name in asked} <= known


def test_what_the_image_needs_for_postgresql_is_what_is_tested() -> None:
    found = {name: (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8") for name in ("postgres", "dev")}
    entries = re.split(r"\n(?=\S)", found["postgres"].strip())
    assert {entry.partition("==")[0] for entry in entries} >= {"psycopg", "psycopg-binary"}
    assert all(entry in found["dev"] for entry in entries)
    assert "-r requirements/postgres.txt" in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
