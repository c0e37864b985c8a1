"""A description of a built transformer: what it recognised, what it repairs, and its options."""

from __future__ import annotations

import dataclasses
from typing import Final

from moongate.chat.contracts import Transformer
from moongate.kimi.config_fields import option_name
from moongate.kimi.generations import ModelFacts
from moongate.kimi.hosts import HostFacts
from moongate.kimi.options import KimiOptions
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import dumps_text

_OF_ALL_DIALECTS: Final = ("repairOnMismatch", "reasoningHistory", "schemaRules")


def facts(transformer: Transformer, dialect: str = "chat") -> list[str]:
    """The recognised host and model, and the repairs that follow. Nothing for transformers other than Kimi's."""
    if not isinstance(transformer, KimiTransformer) or transformer.model is None or transformer.host is None:
        return []
    model, host = transformer.model, transformer.host
    rows = repairs(transformer.options, model, host)
    if dialect != "chat":  # what `native` does
        rows = [row for row in rows if row[1] in _OF_ALL_DIALECTS]
    lines = [
        f"host: {host.name} ({host.why})",
        f"model: family {model.family.name}, generation {model.generation} ({model.why})",
        f"repairs: {', '.join(what for what, _, on in rows if on) or 'nothing'}",
    ]
    if off := [f"{what} ({option})" for what, option, on in rows if not on]:
        lines.append(f"not repaired: {', '.join(off)}")
    return lines


def repairs(options: KimiOptions, model: ModelFacts, host: HostFacts) -> list[tuple[str, str, bool]]:
    """(what, the option that controls it, whether it is on), without what `auto` omits for this host."""
    rows = [
        ("ids of calls", "repairOnMismatch", options.repair_on_mismatch or options.id_normalization),
        ("finish_reason", "enforceFinishReasonLoop", options.enforce_finish_reason_loop),
        ("calls written as markers", "manualToolParsing", options.manual_tool_parsing),
        ("arguments", "repairArguments", options.repair_arguments),
        ("history", "historyRules", options.history_rules == "auto"),
        ("reasoning in the history", "reasoningHistory", options.reasoning_history == "auto"),
    ]
    if model.generation in host.parameters or (host.takes_template_arguments and model.template_effort):
        rows.append(("parameters", "parameterRules", options.parameter_rules == "auto"))
    if host.validates_schemas or options.schema_rules == "always":
        rows.append(("tool schemas and names", "schemaRules", options.schema_rules != "off"))
    if options.guard != "off":
        rows.append(("calls that do not fit their schemas", "guard", True))
    return rows


def options_of(transformer: Transformer) -> tuple[dict[str, str], dict[str, str]]:
    """The effective options of a transformer: those that differ from their defaults, and the others."""
    changed: dict[str, str] = {}
    defaults: dict[str, str] = {}
    for field, value in _option_fields(transformer):
        rows = defaults if value == _default(field) else changed
        rows[option_name(field.name)] = _shown(value)
    return changed, defaults


def _option_fields(transformer: Transformer) -> list[tuple[dataclasses.Field[object], object]]:
    """The fields that are options: those of a transformer, or of the dataclasses that it holds."""
    if isinstance(transformer, KimiTransformer):
        return _fields(transformer.options)  # its other fields are what it recognised
    return [inner for outer in _fields(transformer) for inner in _fields(outer[1]) or [outer]]


def _fields(value: object) -> list[tuple[dataclasses.Field[object], object]]:
    """The public fields of a dataclass with their values; none for anything else."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return []
    return [(each, getattr(value, each.name)) for each in dataclasses.fields(value) if each.name[0] != "_"]


def _default(field: dataclasses.Field[object]) -> object:
    """The default of a field; MISSING, which equals no value, if it has none."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _shown(value: object) -> str:
    inner = _fields(value)
    try:
        return dumps_text({option_name(each.name): found for each, found in inner} if inner else value)
    except TypeError:
        return str(value)
