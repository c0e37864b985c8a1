"""Which Kimi model is it? What is true of a model wherever it runs, read from its name (section 2).

A new generation is one row of `GENERATIONS`; a new family is a `Family` of its own file, named in such a row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from moongate.kimi.family import Family
from moongate.kimi.markers.first_markup import FIRST_MARKUP
from moongate.kimi.markers.k2 import K2
from moongate.kimi.markers.k3 import K3

MAX_NAME_CHARS: Final = 512  # a name is judged by these: the patterns below may look at a name once per `kimi` in it

Thinking = Literal["never", "switchable", "always", "unknown"]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model. `why` says how it was recognised."""

    family: Family
    generation: str
    thinking: Thinking
    title: str  # for people
    tools_in_messages: bool = False  # takes `messages[].tools` (dynamic tools)
    template_effort: bool = False  # its chat template reads `thinking_effort`
    why: str = ""

    @property
    def thinks(self) -> bool:
        """Whether the model thinks by default."""
        return self.thinking in ("switchable", "always")


@dataclass(frozen=True, slots=True)
class Generation:
    """A row: the facts, and a pattern for normalised model names (see `normalise_name`). The first match counts."""

    facts: ModelFacts
    pattern: re.Pattern[str] | None  # None: any name
    examples: tuple[str, ...]  # names that match this row


def _row(facts: ModelFacts, pattern: str | None, *examples: str) -> Generation:
    return Generation(facts, None if pattern is None else re.compile(pattern), examples)


def _k3(generation: str, thinking: Thinking, title: str) -> ModelFacts:
    return ModelFacts(K3, generation, thinking, title, tools_in_messages=True, template_effort=True)


GENERATIONS: Final = (  # K3 first, the row for any name last
    _row(
        _k3("k3.1", "always", "K3.1 Pro"),
        r"(?:^|kimi(?:.*-)?)k3-1(?![a-z0-9])",  # not k3-128k, nor k3-1m
        "moonshotai/Kimi-K3.1-Pro",
        "k3.1-pro",
    ),
    _row(_k3("k3", "switchable", "K3"), r"^k3|kimi(?:.*-)?k3(?![0-9])", "moonshotai/Kimi-K3", "k3-256k"),
    _row(ModelFacts(K2, "moonshot-v1", "never", "Moonshot v1"), r"\bmoonshot-v1\b", "moonshot-v1-8k"),
    _row(ModelFacts(K2, "k2.5", "switchable", "K2.5"), r"(?:\b|kimi)k2-5\b", "moonshotai/Kimi-K2.5", "kimi-k2p5"),
    _row(ModelFacts(K2, "k2.6", "switchable", "K2.6"), r"(?:\b|kimi)k2-6\b", "moonshotai/Kimi-K2.6", "kimi-k2-6"),
    _row(ModelFacts(K2, "k2.7", "always", "K2.7 Code"), r"(?:\b|kimi)k2-7\b", "kimi-k2.7-code", "KIMI_K2_7"),
    _row(
        ModelFacts(K2, "k2.8", "always", "K2.8"), r"(?:\b|kimi)k2-8\b|kimi-for-coding", "kimi-for-coding", "kimi-k2.8"
    ),
    # A minor version without a row: no generation's rules are safer than those of another generation.
    _row(ModelFacts(K2, "unknown", "unknown", "a later K2"), r"(?:\b|kimi)k2-[0-9]{1,2}\b", "kimi-k2.9"),
    _row(
        ModelFacts(K2, "k2-thinking", "always", "K2 Thinking"),
        r"(?:\b|kimi)k2\b.*\bthinking\b",
        "moonshotai/Kimi-K2-Thinking",
        "kimi-k2-thinking-turbo",
    ),
    _row(ModelFacts(K2, "k2", "never", "K2"), r"(?:\b|kimi)k2\b", "kimi-k2-0905-preview", "Kimi-K2-Instruct"),
    _row(ModelFacts(FIRST_MARKUP, "unknown", "unknown", "any other name"), None, "kimi-latest", "my-alias"),
)

FAMILY_NAMES: Final = tuple(sorted({row.facts.family.name for row in GENERATIONS}))


def normalise_name(model: str) -> str:
    """The name in lower case, with one kind of separator, and `p` between digits read as a dot."""
    name = re.sub(r"(?<=[0-9])p(?=[0-9])", "-", model[:MAX_NAME_CHARS].lower())
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")


def recognise_model(model: str, family: str = "auto", rows: Sequence[Generation] = GENERATIONS) -> ModelFacts:
    """What is known of `model`. A family that is not "auto" (the option `family`) wins over the name."""
    if family != "auto":
        rows = [row for row in rows if row.facts.family.name == family]
    name = normalise_name(model)
    named = (row for row in rows if row.pattern is not None and row.pattern.search(name))
    row = next(named, rows[-1])
    matched = row.pattern is not None and row.pattern.search(name) is not None
    why = f"the name {model[:MAX_NAME_CHARS]!r} says {row.facts.title if matched else 'nothing'}"
    if family != "auto":
        why = f"the option family says {family}, {why}"
        if row.facts.family is FIRST_MARKUP:
            return replace(row.facts, family=K2, why=why)
    elif not matched:
        why = f"{why}, so it is taken for the {row.facts.family.name.upper()} family"
    return replace(row.facts, why=why)
