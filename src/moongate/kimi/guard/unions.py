"""Forms of which a value must have one (`anyOf`, `oneOf`): what would be lost if it were read as another one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from moongate.kimi.guard.check import MEMBERS_PER_STEP, SchemaCheck
from moongate.kimi.guard.evaluated import evaluated
from moongate.kimi.guard.names import near_option, property_key
from moongate.payload import JsonObject

_TELLING: Final = ("const", "enum")


def declared_by_others(check: SchemaCheck, others: Iterable[object], value: object) -> set[str]:
    """The properties, by their keys, that the other forms declare, without forms that the value cannot be meant for.

    Raises TooMuchWork.
    """
    given: JsonObject = value if isinstance(value, dict) else {}
    keys = set[str]()
    for other in others:
        form = check.resolve(other["$ref"]) if isinstance(other, dict) and "$ref" in other else other
        if isinstance(form, dict) and not _is_ruled_out(check, form, given):
            keys |= {property_key(name) for name in evaluated(check, form, given, anyway=True) or ()}
    return keys


def _is_ruled_out(check: SchemaCheck, form: JsonObject, value: JsonObject) -> bool:
    """Does a property, such as `type`, say that another form is meant?"""
    declared = form.get("properties")
    check.spend(len(declared) // MEMBERS_PER_STEP if isinstance(declared, dict) else 0)
    for name, part in declared.items() if isinstance(declared, dict) else ():
        if name in value and isinstance(part, dict) and any(word in part for word in _TELLING):
            given, options = value[name], part.get("enum", [part.get("const")])
            check.spend(len(options) if isinstance(options, list) else 0)
            is_near = isinstance(given, str) and isinstance(options, list) and near_option(given, options) is not None
            if not is_near and not check.fits(part, given):
                return True
    return False
