"""Does a value fit a JSON Schema? The client's own schema, any draft since 7, as far as its keywords can be checked.

What cannot be checked fits: a `pattern` that takes more than linear time, references that are not local; `format` is an
annotation. Under `not`, in one of several forms and the like such a value fits as well as not:
then nothing is refused. Time is bounded for every schema and value: a check takes at most `MAX_STEPS` steps, and all
checks of an answer some and one more for every two characters of its arguments. A value that needs more fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import unquote

from moongate.payload import JsonObject

MAX_STEPS: Final = 200_000
SPARE_STEPS: Final = 20_000  # of all checks of an answer, beside those for the size of its arguments
STEP_BYTES: Final = 32  # of JSON that is written or read in about the time of a step
MEMBERS_PER_STEP: Final = 4  # of a list or object that are looked at in about the time of a step
MAX_DEPTH: Final = 120  # of schemas inside one another; a deeper value fits

Path = tuple[str | int, ...]


class Mismatch(NamedTuple):
    """The first place at which a value does not fit. `why` may be a function: most mismatches are never told."""

    path: Path
    why: str | Callable[[], str]

    def __str__(self) -> str:
        return f"{path_text(self.path)}: {self.why if isinstance(self.why, str) else self.why()}"


class TooMuchWork(Exception):
    """The check would take too many steps."""


class CheckSteps:
    """How many steps checks may still take. Those of one answer share them, so that many calls take no longer."""

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_STEPS) -> None:
        self.left = left

    def add_for(self, text: str) -> None:
        """More steps, because there are more arguments."""
        self.left = min(MAX_STEPS, self.left + len(text) // 2)


class SchemaCheck:
    """The check of one value by one schema."""

    __slots__ = ("_depth", "_references", "_steps", "doubts", "root")

    def __init__(
        self, root: object, references: dict[str, object] | None = None, steps: CheckSteps | None = None
    ) -> None:
        self.root = root
        self._references: dict[str, object] = {} if references is None else references  # those that were resolved
        self._steps = CheckSteps() if steps is None else steps
        self._depth = 0
        self.doubts = 0  # keywords so far that could not be checked, for a value that otherwise fits

    def mismatch(self, value: object) -> Mismatch | None:
        """Where the value does not fit the schema, None if it fits or cannot be checked in time."""
        try:
            return self.find(self.root, value, ())
        except TooMuchWork:
            return None

    def find(self, schema: object, value: object, path: Path) -> Mismatch | None:
        """The same for a part of the schema and a part of the value. Raises TooMuchWork."""
        if schema is False:
            return Mismatch(path, "is not allowed")
        if not isinstance(schema, dict) or not schema:
            return None
        self.spend(1)
        self.descend()
        try:
            for keyword, rule in rules_for(value):
                if keyword in schema:
                    found = rule(self, schema, value, path)
                    if found is not None:
                        return found
        finally:
            self.ascend()
        return None

    def fits(self, schema: object, value: object) -> bool:
        return self.find(schema, value, ()) is None

    def surely_fits(self, schema: object, value: object) -> bool | None:
        """Whether it fits; None if that depends on what could not be checked. Raises TooMuchWork."""
        before = self.doubts
        if self.find(schema, value, ()) is not None:
            self.doubts = before  # a mismatch is certain
            return False
        return True if self.doubts == before else None

    def descend(self) -> None:
        """Go one schema deeper. Raises TooMuchWork if that is too deep; `ascend` follows in any other case."""
        if self._depth == MAX_DEPTH:
            raise TooMuchWork
        self._depth += 1

    def ascend(self) -> None:
        self._depth -= 1

    def spend(self, steps: int) -> None:
        self._steps.left -= steps
        if self._steps.left < 0:
            self._steps.left = 0
            raise TooMuchWork

    def spend_for(self, text: str | bytes) -> None:
        """For a value that was written or read as this text."""
        self.spend(len(text) // STEP_BYTES)

    def resolve(self, reference: object) -> object:
        """The schema that a local reference names; None, which everything may fit, for any other reference."""
        if not isinstance(reference, str):
            return None
        if reference not in self._references:
            self._references[reference] = _pointed_at(self.root, reference)
        return self._references[reference]


Rule = Callable[[SchemaCheck, JsonObject, object, Path], Mismatch | None]

_RULES: dict[str, list[tuple[str, Rule]]] = {kind: [] for kind in ("object", "array", "string", "number", "other")}


def rule(keyword: str, *kinds: str) -> Callable[[Rule], Rule]:
    """Declare the rule of a keyword, for values of these kinds (all if none is named)."""

    def declare(function: Rule) -> Rule:
        for kind in kinds or _RULES:
            _RULES[kind].append((keyword, function))
        return function

    return declare


def rules_for(value: object) -> list[tuple[str, Rule]]:
    """The keywords that can refuse this value, with their rules."""
    if isinstance(value, str):
        return _RULES["string"]
    if isinstance(value, dict):
        return _RULES["object"]
    if isinstance(value, list):
        return _RULES["array"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _RULES["number"]
    return _RULES["other"]


def type_of(value: object) -> str:
    """The JSON type of a value. A whole number is an integer, however it is written."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


_TYPES: Final = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def wanted_types(schema: Mapping[str, object]) -> tuple[str, ...]:
    """The types that `type` names; empty if it allows all, or names one that there is not (`"int"`, `"OBJECT"`)."""
    wanted = schema.get("type")
    if isinstance(wanted, str):
        return (wanted,) if wanted in _TYPES else ()
    named = tuple(each for each in wanted if isinstance(each, str)) if isinstance(wanted, list) else ()
    return named if _TYPES.issuperset(named) else ()


def has_type(value: object, wanted: tuple[str, ...]) -> bool:
    found = type_of(value)
    return not wanted or found in wanted or (found == "integer" and "number" in wanted)


def path_text(path: Path) -> str:
    """A path as people write it.

    >>> path_text(("todos", 0, "status"))
    'todos[0].status'
    """
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".") or "the arguments"


def _pointed_at(root: object, reference: str) -> object:
    if reference != "#" and not reference.startswith("#/"):
        return None
    found: object = root
    for step in _steps(reference):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and len(step) < 9 and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


def _steps(reference: str) -> Iterator[str]:
    for step in reference.split("/")[1:]:
        yield unquote(step).replace("~1", "/").replace("~0", "~")
