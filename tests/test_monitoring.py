"""The alerts and the dashboard of `deploy/`: rules fire on recorded series, and every metric that is named exists."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.ui.running import pages
from tests.support.canary import CLIENT_KEY
from tests.support.http import get

from moongate.gateway.record.metrics import FAMILIES
from moongate.gateway.record.quality_metrics import GAUGES

pytestmark = pytest.mark.needs("prometheus")
DEPLOY = Path(__file__).parent.parent / "deploy"
RULES, TESTS = DEPLOY / "prometheus-rules.yml", DEPLOY / "prometheus-rules.test.yml"
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
NAME = re.compile(r"\bmoongate_\w+")


def promtool(*arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["promtool", *arguments], input=given, capture_output=True, text=True, check=False, timeout=120
    )


def existing() -> set[str]:
    """The names of all series that a gateway writes."""
    found = {"moongate_build_info", "moongate_nodes", *(f"moongate_quality_{name}" for name in GAUGES)}
    for name, (kind, _) in FAMILIES.items():
        found |= {f"{name}_{part}" for part in ("bucket", "sum", "count")} if kind == "histogram" else {name}
    return found


def test_the_rules_are_right_and_fire_on_recorded_series() -> None:
    assert (done := promtool("check", "rules", str(RULES))).returncode == 0, done.stdout + done.stderr
    assert (done := promtool("test", "rules", str(TESTS))).returncode == 0, done.stdout + done.stderr


def test_every_rule_is_seen_to_fire_and_to_rest() -> None:
    rules = re.findall(r"- alert: (\w+)", RULES.read_text(encoding="utf-8"))
    quiet, loud = TESTS.read_text(encoding="utf-8").split("- name: a gateway in trouble")
    assert sorted(rules) == sorted(re.findall(r"alertname: (\w+)", quiet))
    assert set(rules) == set(re.findall(r"alertname: (\w+)\n\s+eval_time: \w+\n\s+exp_alerts:", loud))


@pytest.mark.parametrize("file", [RULES, TESTS, DEPLOY / "grafana-dashboard.json"], ids=lambda file: file.name)
def test_every_metric_that_is_named_exists(file: Path) -> None:
    named = set(NAME.findall(file.read_text(encoding="utf-8")))
    assert len(named) >= 10
    assert named - existing() == set()


def test_the_expressions_of_the_dashboard_are_right(tmp_path: Path) -> None:
    assert len(EXPRESSIONS) > 20
    rules = []
    for number, expression in enumerate(EXPRESSIONS):
        filled = expression.replace("$__rate_interval", "5m").replace("$provider", ".*")
        assert "$" not in filled
        rules.append({"record": f"dashboard:{number}", "expr": filled})
    file = tmp_path / "dashboard.yml"
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert (done := promtool("check", "rules", str(file))).returncode == 0, done.stdout + done.stderr


def test_panels_do_not_overlap() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [
        (x, y) for at in places for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)


def test_the_labels_that_are_named_exist_in_a_real_gateway(tmp_path: Path) -> None:
    """Each label that a rule or a panel groups or filters by is on some series of its metric."""
    with pages(tmp_path, client_metrics=5, metrics="clients") as ui:
        for said in ("hi", "markers", "fail"):
            ui.ask(said)
        text = get(ui.root + "/metrics", key=CLIENT_KEY).body.decode()
    assert (done := promtool("check", "metrics", given=text)).returncode == 0, done.stdout + done.stderr
    labels: dict[str, set[str]] = {}
    for name, inner in re.findall(r"^(moongate_\w+)(?:{(.*)})? ", text, re.M):
        labels.setdefault(name, set()).update(re.findall(r'(\w+)="', inner))
    assert len(labels) > 20
    for expression in [*EXPRESSIONS, *re.findall(r"expr: (.*?)\n        (?:for|labels)", RULES.read_text(), re.DOTALL)]:
        for name, inner in re.findall(r"(moongate_\w+){(.*?)}", expression):
            if name in labels:
                assert set(re.findall(r"(\w+)[=!]", inner)) <= labels[name], expression
