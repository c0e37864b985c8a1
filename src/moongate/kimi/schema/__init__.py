"""Moonshot's JSON Schema flavour: `normalise_schema` makes any tool's schema fit it, `validate_schema` judges one."""

from __future__ import annotations

from moongate.kimi.schema.normalise import normalise_schema
from moongate.kimi.schema.validate import refusal, validate_schema

__all__ = ["normalise_schema", "refusal", "validate_schema"]
