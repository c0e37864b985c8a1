"""The block behind a callBegin: a call, or text if it names no tool (sections 5.3 to 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from moongate import payload
from moongate.kimi.markers.arguments import Arguments
from moongate.kimi.markers.call_headers import Header, read_header
from moongate.kimi.markers.json_scan import COMPLETE
from moongate.kimi.markers.piece_builder import FORBIDDEN, PieceBuilder
from moongate.kimi.markers.pieces import CallOpened, Channel, Dropped
from moongate.kimi.tool_set import ToolSet


class Outcome(Enum):
    CALL = "a call, its arguments come out as they stream"
    BY_KEYS = "a call if its argument keys identify a tool"
    TEXT = "no call: it stays visible"
    DROPPED = "a call that is not allowed"


CALL, BY_KEYS, TEXT, DROPPED = Outcome  # aliases: looking a member up in its class is slow


@dataclass(frozen=True, slots=True)
class BlockContext:
    """What blocks are judged by, and where their pieces go."""

    tool_set: ToolSet
    builder: PieceBuilder
    repair: bool


class CallBlock:
    """A header with argBegin and the arguments behind it. `opening` is the block's text up to and with argBegin.

    What is shown of a block that is text is the reader's task, but for the arguments: it knows their fields.
    """

    __slots__ = (
        "_builder",
        "_context",
        "_emitted",
        "_header",
        "_opening",
        "_uncommitted",
        "arguments",
        "outcome",
        "raw",
    )

    def __init__(self, opening: str, header: Header, context: BlockContext) -> None:
        self._opening = opening
        self._header = header
        self._context = context
        self._builder = context.builder
        self.raw: list[tuple[Channel, str]] = []  # BY_KEYS: the block as it came, each part with its field
        self._emitted: list[str] = []  # BY_KEYS: the arguments as they would come out
        self._uncommitted: list[str] | None = None  # what comes out on `commit`; None: no savepoint
        self.arguments = Arguments(context.repair)
        self.outcome = self._judge()

    def _judge(self) -> Outcome:
        if not self._context.tool_set.calls_allowed:
            self._builder.call_boundary()
            return DROPPED
        if self._header.name:
            self._builder.call_boundary()
            self._builder.add(CallOpened(self._header.original_id, self._header.name))
            return CALL
        return BY_KEYS if self._header.by_keys else TEXT

    def feed(self, text: str, marker: bool = False) -> None:
        """The next part of the arguments. `marker`: it is a marker, but none that ends them."""
        part = self.arguments.feed_marker(text) if marker else self.arguments.feed(text)
        if self._uncommitted is not None:
            self._uncommitted.append(part)
        else:
            self._emit(text, part)

    def savepoint(self) -> None:
        """From here on the text may turn out not to belong to the arguments."""
        self.arguments.savepoint()
        self._uncommitted = []

    def commit(self, raw: str) -> None:
        """The text since the savepoint, `raw`, belongs to the arguments."""
        part, self._uncommitted = "".join(self._uncommitted or ()), None
        self._emit(raw, part)

    def rollback(self) -> None:
        """The text since the savepoint does not belong to the arguments."""
        self.arguments.rollback()
        self._uncommitted = None

    def end(self) -> bool:
        """The arguments end. Returns whether it was a call."""
        if self.outcome is CALL:
            return self._close(truncated=False)
        if self.outcome is DROPPED:
            self._builder.add(Dropped(self._opening, FORBIDDEN))
            self._builder.call_boundary()
            return True
        return self.outcome is BY_KEYS and self._named_by_keys(truncated=False)

    def end_of_text(self) -> bool:
        """The text ends inside the arguments. Returns whether it was a call."""
        arguments = self.arguments
        if self.outcome is BY_KEYS:  # arguments that are not whole have no keys
            return self._named_by_keys(truncated=arguments.empty)
        if self.outcome is not CALL:
            return self.end()
        return self._close(truncated=arguments.empty or arguments.completeness() is not COMPLETE)

    def _emit(self, raw: str, part: str) -> None:
        if self.outcome is CALL:
            self._builder.arguments(part)
        elif self.outcome is BY_KEYS:
            self.raw.append((self._builder.field, raw))
            self._emitted.append(part)
        elif self.outcome is TEXT:
            self._builder.text(raw)

    def _close(self, truncated: bool) -> bool:
        self._builder.arguments(self.arguments.close())
        self._builder.close_call(truncated)
        return True

    def _named_by_keys(self, truncated: bool) -> bool:
        """Emit the call at once if its argument keys identify a tool."""
        text = "".join((*self._emitted, self.arguments.close()))
        arguments = payload.object_of(text)
        name = None if arguments is None else self._context.tool_set.only_match(arguments.keys())
        if name is None:
            return False
        self._builder.call_boundary()
        self._builder.add(CallOpened(self._header.original_id, name))
        self._builder.arguments(text)
        self._builder.close_call(truncated)
        return True


def read_bare_call(text: str, context: BlockContext) -> bool:
    """A header that ends without argBegin. Returns whether it is a call."""
    header = read_header(text, context.tool_set)
    if not context.tool_set.calls_allowed:
        if header.name:
            context.builder.add(Dropped(text, FORBIDDEN))
            context.builder.call_boundary()
        return bool(header.name)
    if header.name and context.tool_set.has(header.name):
        context.builder.whole_calls([(header.original_id, header.name, "{}")])
        return True
    return False
