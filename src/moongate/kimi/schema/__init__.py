"""Moonshot's JSON Schema flavour: `normalise_schema` makes any tool's schema fit it, `validate_schema` judges one."""

from __future__ import annotations

from moongate.kimi.schema.keywords import Level
from moongate.kimi.schema.normalise import NormalisedSchema, normalise_schema, normalised
from moongate.kimi.schema.step_budget import StepBudget
from moongate.kimi.schema.validate import refusal, validate_schema

__all__ = ["Level", "NormalisedSchema", "StepBudget", "normalise_schema", "normalised", "refusal", "validate_schema"]
