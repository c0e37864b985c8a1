"""What a built transformer is, in words: what it recognised, what it repairs, and its options."""

from __future__ import annotations

import dataclasses
from typing import Any

from moongate.kimi.family import ModelFacts
from moongate.kimi.hosts import HostFacts
from moongate.kimi.options import KimiOptions, option_name
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import dumps_text


def facts(transformer: Any) -> list[str]:
    """What it found out about its target, and what follows. Only our own transformer tells."""
    if not isinstance(transformer, KimiTransformer) or transformer.model is None or transformer.host is None:
        return []
    model, host = transformer.model, transformer.host
    rows = repairs(transformer.options, model, host)
    lines = [
        f"host: {host.name} ({host.why})",
        f"model: family {model.family}, generation {model.generation} ({model.why})",
        f"repairs: {', '.join(what for what, _, on in rows if on) or 'nothing'}",
    ]
    if off := [f"{what} ({option})" for what, option, on in rows if not on]:
        lines.append(f"leaves alone: {', '.join(off)}")
    return lines


def repairs(options: KimiOptions, model: ModelFacts, host: HostFacts) -> list[tuple[str, str, bool]]:
    """(what, the option that rules it, is it on), without what `auto` finds that the host does not need."""
    rows = [
        ("ids of calls", "repairOnMismatch", options.repair_on_mismatch or options.id_normalization),
        ("finish_reason", "enforceFinishReasonLoop", options.enforce_finish_reason_loop),
        ("calls written as markers", "manualToolParsing", options.manual_tool_parsing),
        ("arguments", "repairArguments", options.repair_arguments),
        ("history", "historyRules", options.history_rules == "auto"),
        ("reasoning in the history", "reasoningHistory", options.reasoning_history == "auto"),
    ]
    if model.generation in host.parameters:
        rows.append(("parameters", "parameterRules", options.parameter_rules == "auto"))
    if host.validates_schemas or options.schema_rules == "always":
        rows.append(("tool schemas and names", "schemaRules", options.schema_rules != "off"))
    return rows


def options_of(transformer: Any) -> tuple[dict[str, str], dict[str, str]]:
    """The options that a transformer ended up with: those that differ from their defaults, and the others."""
    changed: dict[str, str] = {}
    usual: dict[str, str] = {}
    for each, value in _fields(transformer):
        inner = _fields(value)
        if any(field.name == "why" for field, _ in inner):
            continue  # a fact, no option
        for field, found in inner or [(each, value)]:
            rows = usual if found == _default(field) else changed
            rows[option_name(field.name)] = _shown(found)
    return changed, usual


def _fields(value: Any) -> list[tuple[dataclasses.Field[Any], Any]]:
    """The public fields of a dataclass; of anything else none."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return []
    return [(each, getattr(value, each.name)) for each in dataclasses.fields(value) if each.name[0] != "_"]


def _default(field: dataclasses.Field[Any]) -> Any:
    """MISSING equals no value."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _shown(value: Any) -> str:
    inner = _fields(value)
    try:
        return dumps_text({option_name(each.name): found for each, found in inner} if inner else value)
    except TypeError:
        return str(value)
