"""How deep the definitions of a schema are, with what they refer to.

Moonshot counts `properties` inside `properties` and follows each reference once on a path. Definitions that refer to
each other in a circle are taken for as deep as all of them in a row: never less than what Moonshot finds, and found
in one pass over the schema, where the longest path through a circle would need very many.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moongate.kimi.schema.reference_rules import ReferenceRules
from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import JsonObject


@dataclass(slots=True)
class _Node:
    """One target of references: its own depth, and what it refers to at which depth."""

    depth: int = 0
    edges: dict[str, int] = field(default_factory=dict)
    order: int = 0
    low: int = 0
    position: int = 0  # on the stack of open nodes


def definition_depths(root: JsonObject, rules: ReferenceRules, steps: StepBudget) -> dict[str, int]:
    """The depth by reference (`#/$defs/A`), of all that can be reached from a definition."""
    definitions = root.get("$defs")
    if not isinstance(definitions, dict):
        return {}
    nodes: dict[str, _Node] = {}
    depths: dict[str, int] = {}
    for name in definitions:
        if f"#/$defs/{name}" not in depths:
            _search(f"#/$defs/{name}", nodes, depths, rules, steps)
    return depths


def _search(
    start: str, nodes: dict[str, _Node], depths: dict[str, int], rules: ReferenceRules, steps: StepBudget
) -> None:
    """Tarjan's search for circles, with a stack of its own; a circle is measured when it is complete."""
    waiting: list[tuple[str, list[str]]] = []
    open_refs: list[str] = []

    def enter(ref: str) -> None:
        node = nodes[ref] = _measured(rules.resolve(ref), steps)
        node.order = node.low = len(nodes)
        node.position = len(open_refs)
        open_refs.append(ref)
        waiting.append((ref, list(node.edges)))

    enter(start)
    while waiting:
        ref, rest = waiting[-1]
        node = nodes[ref]
        if rest:
            target = rest.pop()
            steps.take(1)
            if target not in nodes:
                enter(target)
            elif target not in depths:
                node.low = min(node.low, nodes[target].order)
            continue
        waiting.pop()
        if waiting:
            before = nodes[waiting[-1][0]]
            before.low = min(before.low, node.low)
        if node.low == node.order:
            _close(open_refs[node.position :], nodes, depths)
            del open_refs[node.position :]


def _close(circle: list[str], nodes: dict[str, _Node], depths: dict[str, int]) -> None:
    members = set(circle)
    around = longest = deepest = 0
    for ref in circle:
        node = nodes[ref]
        inner = max((depth for target, depth in node.edges.items() if target in members), default=0)
        around += inner
        longest = max(longest, inner)  # the first one on a path can come once more
        outer = (depth + depths[target] for target, depth in node.edges.items() if target not in members)
        deepest = max(deepest, node.depth, *outer, 0)
    depths.update(dict.fromkeys(circle, around + longest + deepest))


def _measured(schema: Any, steps: StepBudget) -> _Node:
    """The depth of one schema without what it refers to. `items` are not looked into, as Moonshot does not."""
    node = _Node()
    waiting: list[tuple[Any, int]] = [(schema, 0)]
    while waiting:
        here, depth = waiting.pop()
        if not isinstance(here, dict):
            continue
        steps.take(1)
        node.depth = max(node.depth, depth)
        ref = here.get("$ref")
        if isinstance(ref, str):
            node.edges[ref] = max(depth, node.edges.get(ref, 0))
        properties, branches = here.get("properties"), here.get("anyOf")
        if isinstance(properties, dict):
            waiting += [(inner, depth + 1) for inner in properties.values()]
            node.depth = max(node.depth, depth + 1)
        if isinstance(branches, list):
            waiting += [(branch, depth) for branch in branches]
        if "additionalProperties" in here:
            waiting.append((here["additionalProperties"], depth))
    return node
