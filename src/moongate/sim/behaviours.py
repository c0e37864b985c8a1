"""How the simulator answers a request, and how a model name selects rows of the table in rows.py.

A name is `<a Kimi name>-sim[-row]...`, such as `kimi-k2.5-sim-moonshot-walls-foreign-ids`: the part before `-sim`
selects the generation, each row after it changes a few fields of one frozen `Behaviour`. A name that cannot be played
exactly as it reads is refused: an unknown row, a row of the other family, two rows that contradict each other.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from moongate.kimi.generations import GENERATIONS as MODELS
from moongate.kimi.generations import ModelFacts, recognise_model
from moongate.kimi.schema import Level
from moongate.sim.rows import BY_NAME, ROWS, Row

DEFAULT_GENERATION: Final = "k2"  # of names that say nothing of a generation
_UNKNOWN: Final = "unknown"  # the generation that Kimi's table gives them
_FACTS: Final[Mapping[str, ModelFacts]] = {
    row.facts.generation: row.facts for row in MODELS if row.facts.generation != _UNKNOWN
}
GENERATIONS: Final = tuple(sorted(_FACTS))
VALIDITIES: Final = (72, 90, 97, 100)  # percent; those that `GET /v1/models` lists


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the simulator answers one request. The defaults are a well-behaved host."""

    generation: str = DEFAULT_GENERATION
    host: str = "generic"
    strict: bool = False  # reject histories with call ids that the model could not read
    rising: bool = False  # with strict: the numbers of K2 ids must rise
    moonshot_validation: bool = False  # reject what Moonshot's API rejects; only with host "moonshot"
    relay: bool = False  # the same on any host
    refuses: tuple[str, ...] = ()  # single checks of Moonshot's, on any host
    schema_level: Level = "strict"  # of the schema check
    temperature: str = ""  # which values pass: fixed, range; "" is the generation's own
    named: str = ""  # "refused": K3 refuses a named tool_choice instead of passing over it
    answers: int = 3  # answers until the final text: one call, then two at once, then the text
    awkward: bool = False  # quotes, line ends, emoji and markup inside the arguments
    max_tokens: bool = False  # honour max_tokens
    ids: str = ""  # shape of the call ids; "" is the host's own
    finish: str = ""  # "" is correct; else the finish reason (or "null") sent instead
    calls_in: str = "native"  # native, content, reasoning, both, seam
    seam: str = ""  # where the markup leaves reasoning: header, arguments, end
    grammar: str = ""  # a deviation from the family's markup
    names: str = ""  # a deviation in function.name: prefixed, split
    nameless: str = ""  # extra: one more call without a name; all: no call has one
    custom: bool = False  # calls of type custom
    piece: int = 11  # characters of text per delta
    arguments: str = "deltas"  # deltas, late (all at once behind the name), once, object, none
    silence: float = 0.0  # seconds before the arguments of the first call
    index: str = ""  # "" is correct; missing, same
    tail: str = ""  # what later deltas of a call repeat: id, null, empty
    think: str = ""  # "tags": reasoning as <think> in content; "open": never closed
    empty_reasoning: bool = False  # an empty reasoning field beside the content
    code_tags: bool = False  # final texts show tags in code spans
    framing: str = "sse"
    shape: str = "as requested"  # as requested, document, stream
    usage: str = "as requested"  # as requested, choices
    cache_writes: str = ""  # where usage says what was written to the cache: details, top, creation, creation-details
    done: bool = True
    pause: float = 0.0  # seconds between pieces
    fault: str = ""
    validity: int = -1  # percent of tool turns that are right; -1: all, or none if damage is selected
    damage: tuple[str, ...] = ()  # kinds of damage (damage.py); () with a validity: those of calls
    recovery: str = ""  # second, error, never; "": each try is drawn anew
    seed: int = 0

    @property
    def family(self) -> str:
        return _FACTS[self.generation].family.name

    @property
    def thinks(self) -> bool:
        return _FACTS[self.generation].thinks

    @property
    def validates(self) -> bool:
        """Whether all of Moonshot's checks apply."""
        return self.relay or (self.moonshot_validation and self.host == "moonshot")

    @property
    def valid_share(self) -> float:
        """The share of tool turns that are right."""
        if self.validity >= 0:
            return min(self.validity, 100) / 100
        return 0.0 if self.damage or self.recovery else 1.0


_NUMBERED: Final = re.compile(r"(valid|seed)-([0-9]{1,9})(?:-|$)")
_NUMBERED_FIELDS: Final = {"valid": "validity", "seed": "seed"}


class UnknownModel(ValueError):
    """No such behaviour; the message suggests the closest one."""


def generation_of(name: str) -> str:
    """The generation that a model name stands for; K2 if it names none."""
    generation = recognise_model(name).generation
    return DEFAULT_GENERATION if generation == _UNKNOWN else generation


def rows_of(words: str) -> list[Row]:
    """The rows in a text such as `strict-foreign-ids`. The longest matching name wins. Raises UnknownModel."""
    rows: list[Row] = []
    rest = words.lower().replace("_", "-").strip("-")
    while rest:
        row = _numbered(rest) or _longest(rest)
        if row is None:
            near = difflib.get_close_matches(rest, BY_NAME, 1)
            raise UnknownModel(f"the simulator cannot play {rest!r}" + (f", did you mean {near[0]!r}?" if near else ""))
        rows.append(row)
        rest = rest[len(row.name) :].strip("-")
    return rows


def _longest(rest: str) -> Row | None:
    fitting = [name for name in BY_NAME if rest == name or rest.startswith(name + "-")]
    return BY_NAME[max(fitting, key=len)] if fitting else None


def _numbered(rest: str) -> Row | None:
    """`valid-72` and `seed-7`: rows with a number of the client's choice."""
    found = _NUMBERED.match(rest)
    if found is None:
        return None
    word, number = found.groups()
    if word == "valid" and int(number) > 100:
        raise UnknownModel(f"the simulator cannot play 'valid-{number}': expected 0 to 100 percent")
    return Row(f"{word}-{number}", "damage", "", {_NUMBERED_FIELDS[word]: int(number)})


def behaviour_of(model: str, *also: str) -> Behaviour:
    """What a model name selects, on top of the rows in `also`, of which the last wins. Raises UnknownModel."""
    name = model.rsplit("/", 1)[-1].rsplit(",", 1)[-1]
    kimi_name, separator, words = name.partition("-sim")
    if words and not words.startswith("-"):
        raise UnknownModel(f"the simulator cannot play {name!r}: rows follow '-sim-'")
    behaviour = Behaviour(generation=generation_of(kimi_name))
    for source in [*also, words if separator else ""]:
        behaviour = replace(behaviour, **_merged(rows_of(source), behaviour))
    return behaviour


def _merged(rows: Iterable[Row], behaviour: Behaviour) -> dict[str, Any]:
    """The fields that these rows change together."""
    fields: dict[str, Any] = {}
    set_by: dict[str, str] = {}
    for row in rows:
        if row.families and behaviour.family not in row.families:
            raise UnknownModel(f"the row {row.name!r} is for {' and '.join(row.families).upper()} only")
        for field, value in row.fields.items():
            if isinstance(value, tuple):
                fields[field] = (*fields.get(field, getattr(behaviour, field)), *value)
                continue
            if field in fields and fields[field] != value:
                raise UnknownModel(f"the rows {set_by[field]!r} and {row.name!r} exclude each other")
            fields[field], set_by[field] = value, row.name
    return fields


def model_name(generation: str, *rows: str) -> str:
    """The model name that selects these rows: `model_name("k2.5", "strict")` is `kimi-k2.5-sim-strict`."""
    start = generation if generation.startswith("moonshot") else f"kimi-{generation}"
    return "-".join([f"{start}-sim", *rows])


def listed_models() -> list[str]:
    """The names in `GET /v1/models`: each generation without rows, each row once, some shares of valid turns."""
    clean = [model_name(generation) for generation in GENERATIONS]
    rows = [model_name(row.example_family, row.name) for row in ROWS if row.group not in ("host",)]
    return clean + rows + [model_name("k2", f"valid-{percent}") for percent in VALIDITIES]
