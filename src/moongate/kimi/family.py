"""Which Kimi is it? What is true of a model wherever it runs, read from its name (section 2).

A new generation is one row of `GENERATIONS`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from moongate.kimi.options import KimiOptions

Family = Literal["k2", "k3"]
Thinking = Literal["never", "switchable", "always", "unknown"]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of a model. `why` says how it was recognised."""

    family: Family
    generation: str
    thinking: Thinking
    title: str  # for people
    why: str = ""

    @property
    def thinks(self) -> bool:
        """Does it think, unless it is told not to?"""
        return self.thinking in ("switchable", "always")


@dataclass(frozen=True, slots=True)
class Generation:
    """A row: the facts, and the pattern that finds them in a plain name (see `plain_name`). The first hit counts."""

    facts: ModelFacts
    pattern: re.Pattern[str] | None  # None: any name
    examples: tuple[str, ...]  # names that it is found by


def _row(facts: ModelFacts, pattern: str | None, *examples: str) -> Generation:
    return Generation(facts, None if pattern is None else re.compile(pattern), examples)


GENERATIONS: Final = (  # K3 first, the name that says nothing last
    _row(ModelFacts("k3", "k3", "always", "K3"), r"^k3|kimi(?:.*-)?k3(?![0-9])", "moonshotai/Kimi-K3", "k3-256k"),
    _row(ModelFacts("k2", "moonshot-v1", "never", "Moonshot v1"), r"\bmoonshot-v1\b", "moonshot-v1-8k"),
    _row(ModelFacts("k2", "k2.5", "switchable", "K2.5"), r"(?:\b|kimi)k2-5\b", "moonshotai/Kimi-K2.5", "kimi-k2p5"),
    _row(ModelFacts("k2", "k2.6", "switchable", "K2.6"), r"(?:\b|kimi)k2-6\b", "moonshotai/Kimi-K2.6", "kimi-k2-6"),
    _row(ModelFacts("k2", "k2.7", "always", "K2.7 Code"), r"(?:\b|kimi)k2-7\b", "kimi-k2.7-code", "KIMI_K2_7"),
    # A minor version that has no row yet: better no rule of a generation than the rules of another one.
    _row(ModelFacts("k2", "unknown", "unknown", "a later K2"), r"(?:\b|kimi)k2-[0-9]{1,2}\b", "kimi-k2.9"),
    _row(
        ModelFacts("k2", "k2-thinking", "always", "K2 Thinking"),
        r"(?:\b|kimi)k2\b.*\bthinking\b",
        "moonshotai/Kimi-K2-Thinking",
        "kimi-k2-thinking-turbo",
    ),
    _row(ModelFacts("k2", "k2", "never", "K2"), r"(?:\b|kimi)k2\b", "kimi-k2-0905-preview", "Kimi-K2-Instruct"),
    _row(ModelFacts("k2", "unknown", "unknown", "any other name"), None, "kimi-latest", "my-alias"),
)


def plain_name(model: str) -> str:
    """The name in lower case, with one kind of separator, and a dot where `p` stands for one."""
    name = re.sub(r"(?<=[0-9])p(?=[0-9])", "-", model.lower())
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")


def facts_of(model: str, options: KimiOptions) -> ModelFacts:
    """What is known of `model`; the option `family` wins over the name."""
    if options.family == "k3":
        return replace(GENERATIONS[0].facts, why="the option family says k3")
    name = plain_name(model)
    rows = GENERATIONS if options.family == "auto" else GENERATIONS[1:]
    row = next(row for row in rows if row.pattern is None or row.pattern.search(name))
    found = f"the name {model!r} says {row.facts.title if row.pattern else 'nothing'}"
    if options.family == "k2":
        return replace(row.facts, why=f"the option family says k2, {found}")
    return replace(row.facts, why=found if row.pattern else f"{found}, so it is taken for the K2 family")
