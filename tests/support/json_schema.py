"""Does a value fit a JSON Schema? The judge is `jsonschema` (Draft 2020-12), independent of moongate."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]


def misfit(schema: Any, value: Any) -> str | None:
    """The first thing that does not fit, or None."""
    error = next(iter(Draft202012Validator(schema).iter_errors(value)), None)
    return None if error is None else f"{error.json_path}: {error.message}"
