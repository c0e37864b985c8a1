from __future__ import annotations

from typing import Any

from moongate.kimi.schema.depths import definition_depths
from moongate.kimi.schema.reference_rules import ReferenceRules
from moongate.kimi.schema.step_budget import StepBudget


def depths(**definitions: Any) -> dict[str, int]:
    root = {"$defs": definitions}
    steps = StepBudget()
    found = definition_depths(root, ReferenceRules(root, True, steps), steps)
    return {ref.removeprefix("#/$defs/"): depth for ref, depth in found.items()}


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def test_properties_count_and_references_are_followed() -> None:
    found = depths(A=obj(x=ref("B"), y={}), B=obj(z=obj()), C={"anyOf": [ref("A"), True], "additionalProperties": {}})
    assert found == {"A": 3, "B": 2, "C": 3}


def test_items_are_not_looked_into() -> None:
    assert depths(A={"type": "array", "items": obj(x=obj(y={}))}) == {"A": 0}


def test_a_circle_is_as_deep_as_its_members_in_a_row() -> None:
    found = depths(A=obj(x=ref("B")), B=obj(y=ref("A"), z=ref("C")), C=obj(w={}))
    assert found == {"C": 1, "A": 5, "B": 5}
    assert depths(N=obj(next=ref("N"))) == {"N": 3}


def test_what_leads_nowhere_has_no_depth() -> None:
    assert depths(A=ref("missing"), B=True) == {"A": 0, "missing": 0, "B": 0}
    steps = StepBudget()
    assert definition_depths({}, ReferenceRules({}, True, steps), steps) == {}


def test_diamonds_and_long_chains_cost_steps_in_proportion() -> None:
    for count in (2000, 4000):
        definitions = {f"d{at}": {"anyOf": [ref(f"d{at + 1}"), ref(f"d{at + 1}")]} for at in range(count)}
        root = {"$defs": definitions}
        steps = StepBudget()
        definition_depths(root, ReferenceRules(root, True, steps), steps)
        assert 200_000 - steps.left < 8 * count
