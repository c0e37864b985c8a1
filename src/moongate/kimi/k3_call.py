"""One call of K3: arguments, each with a key and a type, or one JSON text, become the JSON of a call (section 5.8)."""

from __future__ import annotations

from enum import Enum

from moongate import payload
from moongate.kimi.arguments import Arguments, Mender
from moongate.kimi.json_scan import JsonScanner, Shape, is_json
from moongate.kimi.pieces import CallOpened, Dropped
from moongate.kimi.visible import Visible


class Body(Enum):
    """What the text between `<|open|>…<|sep|>` and `<|close|>…<|sep|>` is."""

    STRING = "the value"
    TYPED = "JSON, or else a text"
    JSON = "all arguments"
    SKIPPED = "of no use"


STRING, TYPED, JSON, SKIPPED = Body  # to look a member up in its class is slow


class K3Call:
    """`name` is empty if no call is made: then everything in it is skipped."""

    __slots__ = ("_arguments", "_body", "_name", "_parts", "_some", "_visible", "mend")

    def __init__(self, name: str, visible: Visible, mend: bool) -> None:
        self._name = name
        self._visible = visible
        self.mend = mend
        self._some = False  # an argument was there
        self._arguments: Arguments | None = None  # of a `json` child
        self._body = SKIPPED
        self._parts: list[str] = []  # of a typed body
        if name:
            visible.add(CallOpened("", name))

    def open(self, child: str, attributes: dict[str, str]) -> None:
        """`argument` or `json` begins."""
        self._body = SKIPPED
        if not self._name:
            return
        key = attributes.get("key")
        if self._arguments is not None or (child == "json" and self._some):
            self._visible.add(Dropped(child, "the call has its arguments already"))
        elif child == "json":
            self._body = JSON
            self._arguments = Arguments(self.mend)
        elif key is None:
            self._visible.add(Dropped(child, "an argument without a key"))
        else:
            self._visible.argue((", " if self._some else "{") + payload.dumps_text(key) + ": ")
            self._some = True
            self._body = STRING if attributes.get("type") == "string" else TYPED
            self._parts.clear()
            if self._body is STRING:
                self._visible.argue('"')

    @property
    def takes_arguments(self) -> bool:
        return self._name != "" and self._arguments is None

    def add(self, arguments: list[str]) -> None:
        """Some of them as a whole, where it takes them: see `written_argument`."""
        self._visible.argue((", " if self._some else "{") + ", ".join(arguments))
        self._some = True

    def feed(self, text: str) -> None:
        """The next part of the body."""
        if self._body is STRING:
            self._visible.argue(payload.dumps_text(text)[1:-1])
        elif self._body is TYPED:
            self._parts.append(text)
        elif self._body is JSON and self._arguments is not None:
            self._visible.argue(self._arguments.feed(text))

    def close(self) -> None:
        """The body ends."""
        if self._body is STRING:
            self._visible.argue('"')
        elif self._body is TYPED:
            self._visible.argue(_value("".join(self._parts), self.mend))
        elif self._body is JSON and self._arguments is not None:
            self._visible.argue(self._arguments.close())
        self._body = SKIPPED

    def end(self) -> None:
        """The call ends."""
        if self._name:
            if self._arguments is None:
                self._visible.argue("}" if self._some else "{}")
            self._visible.close_call(cut=False)

    def cut(self) -> None:
        """The text ends inside a body, or in the tag of another argument: nothing is completed."""
        cut = True
        if self._name and self._arguments is None and not self._some:
            self._visible.argue("{")
        if self._body is TYPED:
            self._visible.argue(_begun("".join(self._parts)))
        elif self._body is JSON and self._arguments is not None:
            cut = self._arguments.verdict() is not Shape.WHOLE
            self._visible.argue(self._arguments.close())
        if self._name:
            self._visible.close_call(cut)


def written_argument(attributes: dict[str, str], body: str, mend: bool) -> str | None:
    """A whole argument as it stands in the JSON of a call; None if it has no key."""
    key = attributes.get("key")
    if key is None:
        return None
    value = payload.dumps_text(body) if attributes.get("type") == "string" else _value(body, mend)
    return f"{payload.dumps_text(key)}: {value}"


def _value(text: str, mend: bool) -> str:
    bare = text.strip()
    if is_json(bare):
        return bare
    if mend and is_json(mended := Mender().feed(bare)):
        return mended
    return payload.dumps_text(text)


def _begun(text: str) -> str:
    """The beginning of a typed value."""
    bare = text.strip()
    scanner = JsonScanner()
    scanner.feed(bare)
    return bare if scanner.shape is not Shape.BROKEN else payload.dumps_text(text)[:-1]
