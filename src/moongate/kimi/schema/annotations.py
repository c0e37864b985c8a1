"""Titles and descriptions on both sides of a reference, which Moonshot refuses outside definitions.

The definition is written in place of the reference, with the outer annotation. Where it is recursive or too large,
the outer annotation goes.
"""

from __future__ import annotations

from typing import Final

from moongate.kimi.schema.conjunctions import CopyBudget
from moongate.kimi.schema.keywords import ANNOTATIONS
from moongate.kimi.schema.reference_rules import ReferenceRules
from moongate.kimi.schema.step_budget import StepBudget
from moongate.kimi.schema.values import annotations_of, without
from moongate.payload import JsonObject

MAX_LEVELS: Final = 40  # below which nothing is copied any more, so that the recursion stays far from Python's limit


class AnnotatedReferences:
    """The references of a schema that is good but for this."""

    def __init__(self, root: JsonObject, copies: CopyBudget, steps: StepBudget) -> None:
        self._root = root
        self._copies = copies
        self._steps = steps
        self._rules = ReferenceRules(root, True, steps)
        self._recursive: dict[str, bool] = {}
        self._mentioned_in: dict[str, set[str]] = {}

    def settled(self) -> JsonObject:
        """The schema without such conflicts; the same object if it had none."""
        return self._settled(self._root)

    def _settled(self, node: JsonObject, level: int = 0) -> JsonObject:
        self._steps.take(1 + len(node))
        if "$ref" in node and not ANNOTATIONS.isdisjoint(node):
            node = self._reference(node, level)
        changed: JsonObject = {}
        properties = node.get("properties")
        if isinstance(properties, dict):
            news = {name: self._settled(inner, level + 1) for name, inner in properties.items()}
            if any(news[name] is not properties[name] for name in news):
                changed["properties"] = news
        for keyword in ("items", "additionalProperties"):
            inner = node.get(keyword)
            new = self._settled(inner, level + 1) if isinstance(inner, dict) else inner
            if new is not inner:
                changed[keyword] = new
        if "anyOf" in node:
            outer = annotations_of(node)
            branches = [_without(self._settled(branch, level + 1), outer) for branch in node["anyOf"]]
            if any(new is not branch for new, branch in zip(branches, node["anyOf"], strict=True)):
                changed["anyOf"] = branches
        return {**node, **changed} if changed else node

    def _reference(self, node: JsonObject, level: int) -> JsonObject:
        """A reference with annotations, or what stands in its place."""
        outer = annotations_of(node)
        ref, passed = node["$ref"], set[str]()
        target = self._rules.resolve(ref)
        inherited: JsonObject = {}
        while target is not None and ref not in passed and "$ref" in target and target.keys() <= {"$ref", *ANNOTATIONS}:
            self._steps.take(1)
            passed.add(ref)
            inherited = {**annotations_of(target), **inherited}
            ref = target["$ref"]
            target = self._rules.resolve(ref)
        inner = set[str]() if target is None else {*inherited, *target, *self._in_branches(target)}
        if target is None or inner.isdisjoint(outer):
            return node
        may_copy = not self._copies.is_spent and level < MAX_LEVELS and ref not in passed
        if may_copy and not self._is_recursive(ref):
            copied = {**target, **inherited, **outer}
            if self._copies.pay(self._copies.size(copied)):
                return copied
        return without(node, *inner & outer.keys())

    def _in_branches(self, target: JsonObject) -> set[str]:
        """The annotations in the branches of a definition: Moonshot refuses them beside the reference as well."""
        branches = target.get("anyOf", ())
        self._steps.take(len(branches))
        return {keyword for branch in branches for keyword in annotations_of(branch)}

    def _is_recursive(self, ref: str) -> bool:
        """Does what `ref` points at lead back to it?"""
        if ref not in self._recursive:
            seen: set[str] = set()
            waiting = [ref]
            while waiting and ref not in seen:
                new = self._mentioned(waiting.pop()) - seen
                self._steps.take(1 + len(new))
                seen |= new
                waiting += new
            self._recursive[ref] = ref in seen
        return self._recursive[ref]

    def _mentioned(self, ref: str) -> set[str]:
        """The references in what `ref` points at."""
        if ref in self._mentioned_in:
            return self._mentioned_in[ref]
        found = self._mentioned_in[ref] = set[str]()
        waiting: list[object] = [self._rules.resolve(ref)]
        while waiting:
            here = waiting.pop()
            self._steps.take(1)
            if isinstance(here, dict):
                if isinstance(here.get("$ref"), str):
                    found.add(here["$ref"])
                waiting += here.values()
            elif isinstance(here, list):
                waiting += here
        return found


def _without(schema: JsonObject, outer: JsonObject) -> JsonObject:
    return schema if outer.keys().isdisjoint(schema) else without(schema, *outer)
