"""One K3 call: its arguments, each with a key and a type, or one JSON text, become JSON (section 5.8)."""

from __future__ import annotations

from enum import Enum

from moongate import payload
from moongate.kimi.markers.arguments import Arguments, ArgumentsRepair
from moongate.kimi.markers.json_scan import Completeness, JsonScanner, is_json
from moongate.kimi.markers.piece_builder import PieceBuilder
from moongate.kimi.markers.pieces import CallOpened, Dropped


class CallBody(Enum):
    """How the text between `<|open|>…<|sep|>` and `<|close|>…<|sep|>` is read."""

    STRING = "the value"
    TYPED = "JSON, or else a string"
    JSON = "all arguments"
    SKIPPED = "ignored"


STRING, TYPED, JSON, SKIPPED = CallBody  # aliases: looking a member up in its class is slow


class K3Call:
    """`name` is empty if the call is not allowed or names no tool: then everything in it is ignored."""

    __slots__ = ("_arguments", "_body", "_builder", "_has_arguments", "_name", "_parts", "repair")

    def __init__(self, name: str, builder: PieceBuilder, repair: bool) -> None:
        self._name = name
        self._builder = builder
        self.repair = repair
        self._has_arguments = False  # at least one argument was written
        self._arguments: Arguments | None = None  # of a `json` child
        self._body = SKIPPED
        self._parts: list[str] = []  # of a typed body
        if name:
            builder.add(CallOpened("", name))

    def open(self, child: str, attributes: dict[str, str]) -> None:
        """`argument` or `json` begins."""
        self._body = SKIPPED
        if not self._name:
            return
        key = attributes.get("key")
        if self._arguments is not None or (child == "json" and self._has_arguments):
            self._builder.add(Dropped(child, "the call has its arguments already"))
        elif child == "json":
            self._body = JSON
            self._arguments = Arguments(self.repair)
        elif key is None:
            self._builder.add(Dropped(child, "an argument without a key"))
        else:
            self._builder.arguments((", " if self._has_arguments else "{") + payload.dumps_text(key) + ": ")
            self._has_arguments = True
            self._body = STRING if attributes.get("type") == "string" else TYPED
            self._parts.clear()
            if self._body is STRING:
                self._builder.arguments('"')

    @property
    def takes_arguments(self) -> bool:
        return self._name != "" and self._arguments is None

    def add(self, arguments: list[str]) -> None:
        """Complete arguments, rendered by `render_argument`. Only if `takes_arguments`."""
        self._builder.arguments((", " if self._has_arguments else "{") + ", ".join(arguments))
        self._has_arguments = True

    def feed(self, text: str) -> None:
        """The next part of the body."""
        if self._body is STRING:
            self._builder.arguments(payload.dumps_text(text)[1:-1])
        elif self._body is TYPED:
            self._parts.append(text)
        elif self._body is JSON and self._arguments is not None:
            self._builder.arguments(self._arguments.feed(text))

    def close(self) -> None:
        """The body ends."""
        if self._body is STRING:
            self._builder.arguments('"')
        elif self._body is TYPED:
            self._builder.arguments(_typed_value("".join(self._parts), self.repair))
        elif self._body is JSON and self._arguments is not None:
            self._builder.arguments(self._arguments.close())
        self._body = SKIPPED

    def end(self) -> None:
        """The call ends."""
        if self._name:
            if self._arguments is None:
                self._builder.arguments("}" if self._has_arguments else "{}")
            self._builder.close_call(truncated=False)

    def truncate(self) -> None:
        """The text ends before the call is closed: what came of its JSON is left incomplete."""
        if self._name and self._arguments is None and not self._has_arguments:
            self._builder.arguments("{}")
        if self._body is TYPED:
            self._builder.arguments(_partial_value("".join(self._parts)))
        elif self._body is JSON and self._arguments is not None:
            self._builder.arguments(self._arguments.close())
        if self._name:
            self._builder.close_call(truncated=True)


def render_argument(attributes: dict[str, str], body: str, repair: bool) -> str | None:
    """A complete argument as a member of the call's JSON; None if it has no key."""
    key = attributes.get("key")
    if key is None:
        return None
    value = payload.dumps_text(body) if attributes.get("type") == "string" else _typed_value(body, repair)
    return f"{payload.dumps_text(key)}: {value}"


def _typed_value(text: str, repair: bool) -> str:
    stripped = text.strip()
    if is_json(stripped):
        return stripped
    if repair and is_json(repaired := ArgumentsRepair().feed(stripped)):
        return repaired
    return payload.dumps_text(text)


def _partial_value(text: str) -> str:
    """The beginning of a typed value, as far as it came."""
    stripped = text.strip()
    scanner = JsonScanner()
    scanner.feed(stripped)
    return stripped if scanner.completeness is not Completeness.BROKEN else payload.dumps_text(text)[:-1]
