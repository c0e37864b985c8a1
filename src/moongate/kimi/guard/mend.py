"""Arguments that do not fit are mended where there is exactly one obvious way, and only if the result fits.

Each way is a small function of `WAYS`, or one of the two that make a list and an object fit. Values are never changed
in place. The same arguments are always mended alike, and what was mended fits, so a second pass changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from moongate.kimi.guard.check import MEMBERS_PER_STEP, Path, SchemaCheck, TooMuchWork, has_type, type_of, wanted_types
from moongate.kimi.guard.equality import canonical
from moongate.kimi.guard.evaluated import evaluated
from moongate.kimi.guard.names import by_property_key, near_option, property_key
from moongate.kimi.guard.patterns import schemas_of
from moongate.kimi.guard.unions import declared_by_others
from moongate.payload import JsonObject, loads_exactly

_WORDS: Final[dict[str, object]] = {"true": True, "false": False, "null": None}
_NOTHING: Final = object()  # there is no such value
_DROPPED: Final = "the property is not declared, and no other is allowed"


class Fix(NamedTuple):
    """One change of the arguments."""

    path: Path
    before: object
    after: object
    why: str


class Mended(NamedTuple):
    value: object
    fixes: tuple[Fix, ...] = ()


def mend(check: SchemaCheck, value: object) -> Mended | None:
    """The value, changed so that it fits the schema; None if it cannot be mended, or not in time."""
    try:
        made = _mended(check, check.root, value, ())
        return made if check.fits(check.root, made.value) else None
    except TooMuchWork:
        return None


def _mended(check: SchemaCheck, schema: object, value: object, path: Path) -> Mended:
    """The value with what can be mended of it for this part of the schema."""
    if not isinstance(schema, dict) or check.fits(schema, value):
        return Mended(value)
    check.descend()
    try:
        return _changed(check, schema, value, path)
    finally:
        check.ascend()


def _changed(check: SchemaCheck, schema: JsonObject, value: object, path: Path) -> Mended:
    """The same for a value that does not fit."""
    made = Mended(value)
    if "$ref" in schema:
        made = _then(made, _mended(check, check.resolve(schema["$ref"]), made.value, path))
    conjunction = schema.get("allOf")
    for each in conjunction if isinstance(conjunction, list) else ():
        made = _then(made, _mended(check, each, made.value, path))
    for keyword in ("anyOf", "oneOf"):
        made = _then(made, _branch(check, schema.get(keyword), made.value, path))
    for way in WAYS:
        _pay(check, schema, made.value)
        new, why = way(schema, made.value)
        if new is not _NOTHING:
            made = _then(made, Mended(new, (Fix(path, made.value, new, why),)))
    _pay(check, schema, made.value)
    if isinstance(made.value, dict):
        made = _then(made, _object(check, schema, made.value, path))
    elif isinstance(made.value, list):
        made = _then(made, _list(check, schema, made.value, path))
    return made


def _pay(check: SchemaCheck, schema: JsonObject, value: object) -> None:
    """For a text that is read or compared with options; for members that are looked at."""
    options, required = schema.get("enum"), schema.get("required")
    if isinstance(value, str):
        check.spend_for(value)
        check.spend(len(options) if isinstance(options, list) else 0)
    elif isinstance(value, list | dict):
        check.spend(len(value) // MEMBERS_PER_STEP + (len(required) if isinstance(required, list) else 0))


def _then(first: Mended, second: Mended) -> Mended:
    return Mended(second.value, first.fixes + second.fixes) if second.fixes else first


def _branch(check: SchemaCheck, branches: object, value: object, path: Path) -> Mended:
    """For one of several forms: the result of those that can be made to fit, if all of them have the same.

    A form for which something has to be left out that another one declares is not the one that was meant.
    """
    if not isinstance(branches, list) or any(check.fits(branch, value) for branch in branches):
        return Mended(value)
    results: dict[str, Mended] = {}
    for branch in branches:
        made = _mended(check, branch, value, path)
        dropped = {property_key(str(fix.path[-1])) for fix in made.fixes if fix.why is _DROPPED}
        others = [other for other in branches if other is not branch] if dropped else []
        if check.fits(branch, made.value) and dropped.isdisjoint(declared_by_others(check, others, value)):
            results.setdefault(canonical(check, made.value), made)
    return next(iter(results.values())) if len(results) == 1 else Mended(value)


# What to put in the place of a value, and why; `_NOTHING` if the value stays.
Way = Callable[[JsonObject, object], tuple[object, str]]


def _text_of_json(schema: JsonObject, value: object) -> tuple[object, str]:
    if not isinstance(value, str):
        return _NOTHING, ""
    wanted = wanted_types(schema) or tuple({type_of(option) for option in _options(schema)})
    found = _NOTHING if has_type(value, wanted) else _parsed(value)
    if found is _NOTHING or isinstance(found, str) or not has_type(found, wanted):
        return _NOTHING, ""
    if isinstance(found, float) and "number" not in wanted and abs(found) < 2**53:
        found = int(found)  # `"5.0"`: not every reader of integers takes a dot
    return found, "JSON was written as text"


def _single_item(schema: JsonObject, value: object) -> tuple[object, str]:
    wanted = wanted_types(schema)
    if "array" not in wanted or has_type(value, wanted) or value in (None, {}):
        return _NOTHING, ""
    if isinstance(value, str) and (not value.strip() or value.lstrip().startswith("[")):
        return _NOTHING, ""  # nothing, or a list that is not JSON or of other items
    return [value], "one value was written for a list"


def _near_option(schema: JsonObject, value: object) -> tuple[object, str]:
    options = _options(schema)
    if not isinstance(value, str) or value in options:
        return _NOTHING, ""
    near = near_option(value, options)
    return (_NOTHING, "") if near is None else (near, "it differs from an allowed value only in case or blanks")


def _options(schema: JsonObject) -> list[object]:
    """The allowed values, where they are listed."""
    options = schema.get("enum")
    if isinstance(options, list):
        return options
    return [schema["const"]] if "const" in schema else []


WAYS: Final[tuple[Way, ...]] = (_text_of_json, _single_item, _near_option)


def _parsed(text: str) -> object:
    word = text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    try:
        found: object = loads_exactly(text)  # with all digits: it may be an id
    except ValueError:
        return _NOTHING
    return found


def _list(check: SchemaCheck, schema: JsonObject, value: list[object], path: Path) -> Mended:
    items, prefix = schema.get("items"), schema.get("prefixItems")
    positions = items if isinstance(items, list) else prefix if isinstance(prefix, list) else []
    rest = schema.get("additionalItems") if isinstance(items, list) else items
    new, fixes = list[object](), list[Fix]()
    for at, each in enumerate(value):
        made = _mended(check, positions[at] if at < len(positions) else rest, each, (*path, at))
        new.append(made.value)
        fixes += made.fixes
    return Mended(new, tuple(fixes)) if fixes else Mended(value)


def _object(check: SchemaCheck, schema: JsonObject, value: JsonObject, path: Path) -> Mended:
    found = schema.get("properties")
    declared: JsonObject = found if isinstance(found, dict) else {}
    check.spend(len(declared) // MEMBERS_PER_STEP)
    made = _declared_names(check, schema, declared, value, path)
    made = _then(made, _defaults(check, schema, declared, made.value, path))
    assert isinstance(made.value, dict)
    new, fixes = dict[str, object](), list[Fix]()
    for name, member in made.value.items():
        inner = Mended(member)
        for part in schemas_of(check, schema, name):
            inner = _then(inner, _mended(check, part, inner.value, (*path, name)))
        new[name] = inner.value
        fixes += inner.fixes
    return _then(made, Mended(new, tuple(fixes)))


def _declared_names(
    check: SchemaCheck, schema: JsonObject, declared: JsonObject, value: JsonObject, path: Path
) -> Mended:
    """Properties that are not allowed: renamed if a declared one that is missing is nearly equal, else dropped.

    Where more than one name would do there is no obvious way, and they stay.
    """
    if schema.get("additionalProperties") is not False and schema.get("unevaluatedProperties") is not False:
        return Mended(value)
    spoken_of = evaluated(check, schema, value, anyway=True)
    if spoken_of is None:
        return Mended(value)
    unknown = by_property_key(name for name in value if name not in spoken_of)
    missing = by_property_key(name for name in [*declared, *spoken_of.difference(declared)] if name not in value)
    names: dict[str, str | None] = {}  # the new ones; None: it is dropped
    for key, found in unknown.items():
        near = missing.get(key, [])
        if not near:
            names.update(dict.fromkeys(found))
        elif len(found) == len(near) == 1:
            names[found[0]] = near[0]
    fixes = list[Fix]()
    new = dict[str, object]()
    for name, member in value.items():
        better = names.get(name, name)
        if better is not None:
            new[better] = member
        if better is None:
            fixes.append(Fix((*path, name), member, None, _DROPPED))
        elif better != name:
            fixes.append(Fix((*path, name), name, better, "the name differs from a declared one only in case, _ or -"))
    return Mended(new, tuple(fixes)) if fixes else Mended(value)


def _defaults(check: SchemaCheck, schema: JsonObject, declared: JsonObject, value: object, path: Path) -> Mended:
    """Required properties that are missing and have a default."""
    assert isinstance(value, dict)
    required = schema.get("required")
    fixes = list[Fix]()
    new = dict(value)
    for name in required if isinstance(required, list) else ():
        if not isinstance(name, str) or name in new:
            continue
        default = _default(check, declared.get(name))
        if default is not _NOTHING:
            new[name] = default
            fixes.append(Fix((*path, name), None, default, "the property is required and has this default"))
    return Mended(new, tuple(fixes)) if fixes else Mended(value)


def _default(check: SchemaCheck, schema: object) -> object:
    if isinstance(schema, dict) and "default" not in schema and "$ref" in schema:
        schema = check.resolve(schema["$ref"])
    return schema.get("default", _NOTHING) if isinstance(schema, dict) else _NOTHING
