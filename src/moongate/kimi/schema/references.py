"""Where a `$ref` points, and under which name it stays."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from moongate.errors import BadRequest
from moongate.payload import JsonObject

DEFINITIONS: Final = ("$defs", "definitions")
MAX_TOKENS: Final = 400  # in the path of a place; deeper places are never written

_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas", *DEFINITIONS})
_LISTS: Final = frozenset({"anyOf", "oneOf", "allOf", "prefixItems", "items"})
_SINGLES: Final = frozenset({"items", "additionalProperties", "additionalItems", "not", "if", "then", "else"})


@dataclass(frozen=True, slots=True)
class Target:
    """What a reference points at. Two references to one place have the same `key`."""

    key: str
    schema: Any

    @property
    def is_root(self) -> bool:
        return self.key == ""


class References:
    """The references of one schema. Local ones are found, remote ones refused."""

    def __init__(self, root: JsonObject, tool: str) -> None:
        self.root = root
        self._tool = tool
        self._found: dict[str, Target | None] = {}
        self._kept: dict[str, tuple[str, Target]] = {}  # by key: what goes into `$defs`, and under which name
        self._taken: set[str] = set()
        self._inner: dict[str, Target] | None = None
        self._declare()

    def _declare(self) -> None:
        for word in DEFINITIONS:
            named = self.root.get(word)
            if isinstance(named, dict):
                for name, schema in named.items():
                    self._name(Target(f"/{word}/{_escaped(name)}", schema), name)

    def _name(self, target: Target, wished: str) -> str:
        readable = re.sub(r"[/~%]", "_", wished) or "definition"
        name, count = readable, 1
        while name in self._taken:
            count += 1
            name = f"{readable}_{count}"
        self._taken.add(name)
        self._kept[target.key] = (name, target)
        return name

    def definitions(self, start: int = 0) -> list[tuple[str, Target]]:
        """The definitions from the `start`-th on: those of the schema, then those that `keep` added."""
        return list(islice(self._kept.values(), start, None))

    def keep(self, target: Target) -> str:
        """The reference text for `target`, which becomes a definition if it is none yet."""
        if target.is_root:
            return "#"
        kept = self._kept.get(target.key)
        return f"#/$defs/{kept[0] if kept else self._name(target, target.key.rpartition('/')[2])}"

    def is_definition(self, target: Target) -> bool:
        return target.is_root or target.key in self._kept

    def find(self, ref: str) -> Target | None:
        """The target of a local reference, None if it points at nothing. Raises BadRequest for a remote one."""
        if ref not in self._found:
            self._found[ref] = self._search(ref)
        return self._found[ref]

    def _search(self, ref: str) -> Target | None:
        document, _, fragment = ref.partition("#")
        if document and document != str(self.root.get("$id", "")).rstrip("#"):
            inner = self._inner_places().get(document)
            if inner is None:
                raise BadRequest(
                    f"tool {self._tool!r}: the remote reference {ref!r} cannot be followed",
                    path=_place_of(self.root, ref),
                )
            return inner
        if not fragment.startswith("/"):
            return self._inner_places().get(f"#{fragment}") if fragment else Target("", self.root)
        found = self._walk([_unescaped(token) for token in fragment[1:].split("/")])
        return found or self._inner_places().get(fragment)

    def _walk(self, tokens: list[str]) -> Target | None:
        here: Any = self.root
        for token in tokens:
            if isinstance(here, dict) and token in here:
                here = here[token]
            elif isinstance(here, list) and token.isascii() and token.isdigit() and int(token) < len(here):
                here = here[int(token)]
            else:
                return None
        return Target("".join(f"/{_escaped(token)}" for token in tokens), here)

    def _inner_places(self) -> dict[str, Target]:
        """Names that are not paths from the root: anchors, ids, and definitions of schemas pasted into this one."""
        if self._inner is None:
            self._inner = {}
            for key, schema in subschemas(self.root):
                self._note_place(key, schema, self._inner)
        return self._inner

    def _note_place(self, key: str, schema: JsonObject, places: dict[str, Target]) -> None:
        target = Target(key, schema)
        for word, mark in (("$anchor", "#"), ("$dynamicAnchor", "#"), ("$id", "")):
            if isinstance(schema.get(word), str):
                places.setdefault(mark + schema[word], target)
        for word in DEFINITIONS:
            named = schema.get(word)
            if key and isinstance(named, dict):
                for name, inner in named.items():
                    escaped = f"/{word}/{_escaped(name)}"
                    places.setdefault(escaped, Target(key + escaped, inner))


def subschemas(root: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    """Every schema in `root`, itself included, with its JSON pointer. Names of properties are not words."""
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        key, schema = waiting.pop()
        if not isinstance(schema, dict) or key.count("/") > MAX_TOKENS:
            continue
        yield key, schema
        for word, value in schema.items():
            if word in _MAPS and isinstance(value, dict):
                waiting += [(f"{key}/{word}/{_escaped(name)}", inner) for name, inner in value.items()]
            elif word in _LISTS and isinstance(value, list):
                waiting += [(f"{key}/{word}/{index}", inner) for index, inner in enumerate(value)]
            elif word in _SINGLES:
                waiting.append((f"{key}/{word}", value))


def _place_of(root: JsonObject, ref: str) -> str:
    for key, schema in subschemas(root):
        if schema.get("$ref") == ref:
            return "parameters" + "".join(f".{_unescaped(token)}" for token in key.split("/")[1:]) + ".$ref"
    return "parameters"


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
