"""Any JSON Schema → one that Moonshot takes (section 10). What it takes already stays the same object.

    refused schema ──rewrite──▶ definitions ──▶ annotations ──▶ termination ──validate──▶ sent schema

What cannot be said in Moonshot's flavour becomes wider, never narrower. Time and size are bounded: a schema that needs
more steps than its size allows is written again with less detail.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from moongate.errors import BadRequest
from moongate.kimi.schema.annotations import AnnotatedReferences
from moongate.kimi.schema.conjunctions import Conjunctions, CopyBudget
from moongate.kimi.schema.detail import Detail
from moongate.kimi.schema.keywords import MAX_SIZE, Level
from moongate.kimi.schema.property_names import PropertyNames
from moongate.kimi.schema.pruning import is_too_wide, pruned
from moongate.kimi.schema.reference_rules import ENDLESS
from moongate.kimi.schema.references import References
from moongate.kimi.schema.rewrite import SchemaRewriter
from moongate.kimi.schema.root import rewritten_root
from moongate.kimi.schema.step_budget import MAX_STEPS, StepBudget, StepsExhausted
from moongate.kimi.schema.termination import terminating
from moongate.kimi.schema.validate import validate_schema, written_size
from moongate.payload import JsonObject, dumps

LESS_DETAIL: Final = (  # with the steps of a request that stay for tools behind this one
    (Detail(copies=False), MAX_STEPS * 3 // 20),
    (Detail(depth=4, copies=False, references=False), MAX_STEPS // 10),
    (Detail(depth=1, levels=2, copies=False, references=False), MAX_STEPS // 20),
)
KEPT_BY_ALL_DETAIL: Final = MAX_STEPS // 5

GROWTH: Final = 4  # the result is at most this many times as large as what came,
GROWTH_BYTES: Final = 64 * 1024  # and this many bytes more

MIN_STEPS: Final = 4000  # for a schema, and one more for each of its bytes; as many again where detail is given up
MAX_ALLOWANCE: Final = MAX_STEPS * 2 // 5


@dataclass(frozen=True, slots=True)
class NormalisedSchema:
    """A schema as it is sent, and the names of properties that were changed: sent → original."""

    schema: JsonObject
    names: Mapping[str, str] = field(default_factory=dict)


def enough_steps(size: int) -> int:
    """With so many steps left for a request, a schema of `size` bytes has as much detail as alone."""
    return min(MAX_STEPS, _allowance(size) * (2 + len(LESS_DETAIL)) // 2 + KEPT_BY_ALL_DETAIL)


def _allowance(size: int) -> int:
    return min(MAX_ALLOWANCE, MIN_STEPS + size)


def normalise_schema(
    parameters: Any, *, tool: str = "", level: Level = "ultra", steps: StepBudget | None = None
) -> JsonObject:
    """The `parameters` of a tool as Moonshot takes them at this level; the same object if they are good.

    Never changed in place. Raises BadRequest, with the tool and the place in it, for a remote reference, for
    `parameters` that are no schema, and for a schema that stays too large even with the least detail; TakesLong if
    `steps` are quick ones and too few for it.
    """
    return normalised(parameters, tool=tool, level=level, steps=steps).schema


def normalised(
    parameters: Any, *, tool: str = "", level: Level = "ultra", steps: StepBudget | None = None
) -> NormalisedSchema:
    """The same with the names that were changed. `steps` is the budget of the whole request."""
    if parameters is None or parameters is True or parameters == []:
        return NormalisedSchema({"type": "object", "properties": {}})
    if not isinstance(parameters, dict):
        raise BadRequest(f"tool {tool!r}: the parameters are no JSON Schema object", path="parameters")
    return _Normalisation(parameters, tool, StepBudget() if steps is None else steps).result(level)


class _Normalisation:
    """One schema on its way."""

    def __init__(self, root: JsonObject, tool: str, steps: StepBudget) -> None:
        self._root = root
        self._tool = tool
        self._data = dumps(root)
        steps.plan(MIN_STEPS + len(self._data))
        self._is_late = steps.left < enough_steps(len(self._data))  # other tools of the request took them
        self._limit = min(MAX_SIZE, GROWTH * len(self._data) + GROWTH_BYTES)
        self._steps = steps

    def result(self, level: Level) -> NormalisedSchema:
        allowance, before = _allowance(len(self._data)), self._steps.left
        found = self._within(allowance, partial(self._good, level))
        rest = allowance - (before - self._steps.left)
        found = found or self._within(rest, self._rewritten, KEPT_BY_ALL_DETAIL)
        for detail, kept in LESS_DETAIL:
            found = found or self._within(allowance // 2, partial(self._attempt, detail), kept)
        if found is not None:
            return found
        if self._is_late and not is_too_wide(self._root):
            return NormalisedSchema({"type": "object"} if self._root.get("type") == "object" else {})
        raise BadRequest(
            f"tool {self._tool!r}: the parameters are too large or too complex for Moonshot, also with less detail",
            path="parameters",
        )

    def _within(
        self, allowance: int, work: Callable[[StepBudget], NormalisedSchema | None], kept: int = 0
    ) -> NormalisedSchema | None:
        """What `work` finds within so many steps, while more than `kept` are left."""
        steps = self._steps.portion(allowance, kept)
        try:
            return work(steps)
        except StepsExhausted:
            return None
        finally:
            self._steps.settle(steps)

    def _rewritten(self, steps: StepBudget) -> NormalisedSchema | None:
        """The schema with all detail that can be sent."""
        self._root = pruned(self._root, steps)
        return self._attempt(Detail(), steps)

    def _good(self, level: Level, steps: StepBudget) -> NormalisedSchema | None:
        """The schema as it came, if Moonshot takes it."""
        return NormalisedSchema(self._root) if validate_schema(self._root, level, steps=steps) is None else None

    def _attempt(self, detail: Detail, steps: StepBudget) -> NormalisedSchema | None:
        """The schema with this much detail, None if Moonshot would not take it."""
        if is_too_wide(self._root):
            return None
        copies = CopyBudget(max(0, self._limit - len(self._data)) if detail.copies else 0, steps)
        references = References(self._root, self._tool, steps)
        conjunctions = Conjunctions(references, copies, steps, following=detail.references)
        names = PropertyNames(self._data, steps)
        rewriter = SchemaRewriter(references, conjunctions, names, steps, detail)
        result = rewritten_root(self._root, rewriter, conjunctions)
        if detail.references:
            result = _with_definitions(result, references, rewriter)
        result = AnnotatedReferences(result, copies, steps).settled()
        if written_size(dumps(result)) > self._limit:
            return None
        complaint = validate_schema(result, "ultra", steps=steps)
        if complaint is not None and complaint.endswith(ENDLESS):
            result = terminating(result, steps)
            complaint = validate_schema(result, "ultra", steps=steps)
        return NormalisedSchema(result, names.originals) if complaint is None else None


def _with_definitions(result: JsonObject, references: References, rewriter: SchemaRewriter) -> JsonObject:
    """The root with the definitions that it had and those that were made of places in it."""
    definitions: JsonObject = {}
    while pending := references.definitions(len(definitions)):
        for name, target in pending:
            definitions[name] = rewriter.definition(target.key, target.schema)
    return {**result, "$defs": definitions} if definitions else result
