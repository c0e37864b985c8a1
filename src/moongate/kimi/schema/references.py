"""Where the references of a schema lead, and under which name a definition is sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from moongate.errors import BadRequest
from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import JsonObject

DEFINITIONS: Final = ("$defs", "definitions")
MAX_TOKENS: Final = 400  # in the path of a place; deeper places are never sent
CHARS_PER_STEP: Final = 64  # of a name or a path that is written
MAX_NAME_CHARS: Final = 64  # of a definition that has no name of its own

_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", *DEFINITIONS})
_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
_SINGLES: Final = frozenset({"items", "additionalProperties", "additionalItems", "not", "if", "then", "else"})


@dataclass(frozen=True, slots=True)
class ReferenceTarget:
    """What a reference points at. Two references to one place have the same `key`."""

    key: str
    schema: Any

    @property
    def is_root(self) -> bool:
        return self.key == ""


class References:
    """The references of one schema. Local ones are found, remote ones refused."""

    def __init__(self, root: JsonObject, tool: str, steps: StepBudget) -> None:
        self.root = root
        self._tool = tool
        self._steps = steps
        self._found: dict[str, ReferenceTarget | None] = {}
        self._sent: dict[str, tuple[str, ReferenceTarget]] = {}  # by key: the sent name of a definition
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        self._inner: dict[str, ReferenceTarget] | None = None
        named = root.get("$defs")
        if isinstance(named, dict):
            steps.take(len(named))
            for name, schema in named.items():
                self._name(ReferenceTarget(f"/$defs/{_escaped(name)}", schema), name)

    def _name(self, target: ReferenceTarget, wished: str) -> str:
        readable = re.sub(r"[/~%{}]", "_", wished) or "definition"
        name = readable
        while name in self._taken:
            self._steps.take(1)
            count = self._counts[readable] = self._counts.get(readable, 1) + 1
            name = f"{readable}_{count}"
        self._taken.add(name)
        self._sent[target.key] = (name, target)
        return name

    def definitions(self, start: int = 0) -> list[tuple[str, ReferenceTarget]]:
        """The definitions from the `start`-th on: those in the root's `$defs`, then those that `sent` added."""
        return list(islice(self._sent.values(), start, None))

    def sent(self, target: ReferenceTarget) -> str:
        """The reference that is sent for `target`, which becomes a definition if it is none yet."""
        if target.is_root:
            return "#"
        known = self._sent.get(target.key)
        if known is not None:
            self._steps.take(len(known[0]) // CHARS_PER_STEP)  # it may be meant by a short anchor
            return f"#/$defs/{known[0]}"
        name = _unescaped(target.key.rpartition("/")[2])
        return f"#/$defs/{self._name(target, name[:MAX_NAME_CHARS])}"

    def is_definition(self, target: ReferenceTarget) -> bool:
        """Whether `target` stays a definition of its own, rather than a place that a reference happened to name."""
        return target.is_root or target.key in self._sent or target.key.split("/")[-2] in DEFINITIONS

    def find(self, ref: str) -> ReferenceTarget | None:
        """The target of a local reference, None if it points at nothing. Raises BadRequest for a remote one."""
        if ref not in self._found:
            self._found[ref] = self._search(ref)
        return self._found[ref]

    def _search(self, ref: str) -> ReferenceTarget | None:
        document, _, fragment = ref.partition("#")
        if document and document != str(self.root.get("$id", "")).rstrip("#"):
            inner = self._inner_places().get(document)
            if inner is None:
                raise BadRequest(
                    f"tool {self._tool!r}: the remote reference {ref[:200]!r} cannot be followed",
                    path=_place_of(self.root, ref, self._steps),
                )
            return inner
        if not fragment.startswith("/"):
            return self._inner_places().get(f"#{fragment}") if fragment else ReferenceTarget("", self.root)
        tokens = fragment[1:].split("/")
        self._steps.take(len(tokens))
        return self._walk([_unescaped(token) for token in tokens]) or self._inner_places().get(fragment)

    def _walk(self, tokens: list[str]) -> ReferenceTarget | None:
        here: Any = self.root
        for token in tokens:
            if isinstance(here, dict) and token in here:
                here = here[token]
            elif isinstance(here, list) and _is_index(token) and int(token) < len(here):
                here = here[int(token)]
            else:
                return None
        return ReferenceTarget("".join(f"/{_escaped(token)}" for token in tokens), here)

    def _inner_places(self) -> dict[str, ReferenceTarget]:
        """Names that are not paths from the root: anchors, ids, and definitions of schemas pasted into this one."""
        if self._inner is None:
            self._inner = {}
            for key, schema in subschemas(self.root, self._steps):
                self._note_place(key, schema, self._inner)
        return self._inner

    def _note_place(self, key: str, schema: JsonObject, places: dict[str, ReferenceTarget]) -> None:
        target = ReferenceTarget(key, schema)
        for keyword, mark in (("$anchor", "#"), ("$dynamicAnchor", "#"), ("$id", "")):
            if isinstance(schema.get(keyword), str):
                places.setdefault(mark + schema[keyword], target)
        for keyword in DEFINITIONS:
            named = schema.get(keyword)
            if key and isinstance(named, dict):
                self._steps.take(len(named) * (1 + len(key) // CHARS_PER_STEP))
                for name, inner in named.items():
                    escaped = f"/{keyword}/{_escaped(name)}"
                    places.setdefault(escaped, ReferenceTarget(key + escaped, inner))


def subschemas(root: JsonObject, steps: StepBudget) -> Iterator[tuple[str, JsonObject]]:
    """Every schema in `root`, itself included, with its JSON pointer. Names of properties are not keywords.

    A pointer is written again for all that is below it, which is paid before it is done: names may be long.
    """
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        key, schema = waiting.pop()
        if not isinstance(schema, dict) or key.count("/") > MAX_TOKENS:
            continue
        chars = len(key) // CHARS_PER_STEP
        steps.take(1 + len(schema) * (1 + chars))
        yield key, schema
        for keyword, value in schema.items():
            if keyword in _MAPS and isinstance(value, dict):
                steps.take(len(value) * chars)
                waiting += [(f"{key}/{keyword}/{_escaped(name)}", inner) for name, inner in value.items()]
            elif keyword in _LISTS and isinstance(value, list):
                steps.take(len(value) * chars)
                waiting += [(f"{key}/{keyword}/{index}", inner) for index, inner in enumerate(value)]
            elif keyword in _SINGLES:
                waiting.append((f"{key}/{keyword}", value))


def _place_of(root: JsonObject, ref: str, steps: StepBudget) -> str:
    for key, schema in subschemas(root, steps):
        if schema.get("$ref") == ref:
            return "parameters" + "".join(f".{_unescaped(token)}" for token in key.split("/")[1:]) + ".$ref"
    return "parameters"


def _is_index(token: str) -> bool:
    return token.isascii() and token.isdigit() and len(token) < 8


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1") if "~" in token or "/" in token else token


def _unescaped(token: str) -> str:
    if "%" in token:
        data = re.sub(
            rb"%([0-9A-Fa-f]{2})",
            lambda found: bytes.fromhex(found[1].decode()),
            token.encode("utf-8", "surrogatepass"),
        )
        token = data.decode("utf-8", "replace")
    return token.replace("~1", "/").replace("~0", "~") if "~" in token else token
