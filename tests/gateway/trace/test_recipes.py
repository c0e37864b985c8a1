"""The recipes of docs/traces.md are accepted, and send traces where they say."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from moongate.gateway.trace.attribute_names import NEWEST
from moongate.gateway.trace.otel_environment import TraceSettings, trace_settings

PAGE = (Path(__file__).parents[3] / "docs" / "traces.md").read_text(encoding="utf-8")
RECIPES = [block for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) if "OTEL_" in block]


def settings(recipe: str) -> TraceSettings:
    script = recipe.replace("moongate serve", "env")
    done = subprocess.run(
        ["sh", "-ec", script], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )
    found = trace_settings(dict(line.split("=", 1) for line in done.stdout.splitlines()))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("number", "url"),
    [
        (0, "http://localhost:4318/v1/traces"),
        (1, "https://cloud.langfuse.com/api/public/otel/v1/traces"),
        (2, "http://localhost:6006/v1/traces"),
        (3, "http://tempo:4318/v1/traces"),
    ],
)
def test_a_recipe_sends_traces_where_it_says(number: int, url: str) -> None:
    assert settings(RECIPES[number]).url == url


def test_what_the_recipes_set_besides() -> None:
    langfuse, phoenix, tempo = map(settings, RECIPES[1:])
    assert langfuse.headers == {"Authorization": "Basic cGstbGYtMTpzay1sZi0x"}
    assert (langfuse.with_content, phoenix.with_content, tempo.with_content) == (True, True, False)
    assert phoenix.names is NEWEST
    assert phoenix.resource["openinference.project.name"] == "moongate"
    assert (tempo.ratio, tempo.is_gzipped) == (0.1, True)
