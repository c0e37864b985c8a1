"""What all choices of one answer share: the rules that are on, what was offered, and the notes."""

from __future__ import annotations

from collections.abc import Collection

from moongate.kimi.answer.judge import Judge
from moongate.kimi.generations import ModelFacts
from moongate.kimi.ids import bare_tool_name
from moongate.kimi.markers.arguments import repair_arguments
from moongate.kimi.markers.k2_markers import K2Markers
from moongate.kimi.markers.pieces import Parser
from moongate.kimi.options import KimiOptions
from moongate.kimi.request.prepare import Prepared
from moongate.kimi.tool_set import ToolSet


class AnswerContext:
    """One per exchange."""

    __slots__ = (
        "_model",
        "call_ids",
        "fast",
        "judge",
        "marker_starts",
        "markers",
        "names",
        "notes",
        "offered",
        "only_ids",
        "options",
        "renames",
        "repairs_calls",
        "repairs_shape",
        "tokens",
        "tool_set",
    )

    def __init__(
        self,
        options: KimiOptions,
        model: ModelFacts,
        prepared: Prepared,
        tokens: tuple[str, ...],
        marker_starts: str,
        fast: bool = True,
    ) -> None:
        tool_set, call_ids, names = prepared.tool_set, prepared.call_ids, prepared.names
        parses, renames, offered = options.manual_tool_parsing, bool(names.renamed), tool_set.tools
        self.options = options
        self.notes = prepared.notes
        self.call_ids, self.names, self.tool_set = call_ids, names, tool_set
        self.tokens: tuple[str, ...] = () if parses else tokens  # emptied when one was seen
        self.markers = tokens
        self.marker_starts = marker_starts
        self.fast = fast  # shortcuts may be taken
        self.renames = renames
        # The model saw the sent names, and may know the client's from the text.
        self.offered: Collection[str] = {*offered, *map(names.sent, offered)} if renames else offered
        self.repairs_calls = call_ids.active or parses or renames
        # With this off as well, every stream keeps its own bytes (section 1).
        self.repairs_shape = options.enforce_finish_reason_loop
        # Of a well-formed native call in a whole answer only the id is checked.
        self.only_ids = call_ids.active and not (renames or parses or options.repair_arguments)
        self.judge = Judge(prepared.notes, offered, names, options.id_prefix, tool_set.call_required)
        self._model = model

    def note(self, kind: str, where: str, before: object = None, after: object = None) -> None:
        self.notes.add(kind, where, before, after)

    def parser(self) -> Parser:
        """A marker parser for one choice."""
        tool_set, names = self.tool_set, self.names
        if self.renames or names.properties:  # the model saw the sent names, and writes them
            sent = {names.sent(name): tool for name, tool in tool_set.tools.items()}
            properties = {names.sent(name): originals for name, originals in names.properties.items()}
            tool_set = ToolSet(sent, tool_set.calls_allowed, tool_set.id_prefix, properties=properties)
        family = self._model.family
        make = family.parser if self.fast or family.plain_parser is None else family.plain_parser
        return make(self.options.tool_tokens, tool_set, self.options.repair_arguments)

    def may_go_on(self, name: str) -> bool:
        """Whether this name of a native call may be the beginning of one that was offered (section 3.9)."""
        offered = self.offered
        if any(other.startswith(name) and other != name for other in offered):
            return True
        if name in offered:
            return False
        return "functions".startswith(name) or (name.startswith("functions") and bare_tool_name(name, offered) == name)

    @property
    def stop_characters(self) -> str:
        """The characters that have to be read in a stream: text without any of them changes nothing."""
        return f"{self.marker_starts}`" if self.options.manual_tool_parsing else self.marker_starts

    def may_hold_marker(self, text: str) -> bool:
        """Is there a character in this text that a marker or a tag begins with?"""
        starts = self.marker_starts
        return starts in text if len(starts) == 1 else any(start in text for start in starts)

    def marker_seen(self, where: str, marker: str) -> None:
        self.note("markers_seen", where, marker)
        self.tokens = ()

    def repaired_arguments(self, text: str) -> str:
        """The arguments of a native call, not streamed, repaired (section 5.6).

        The markers to cut are those of `toolTokens` for every family: K3 writes arguments as tags, not as JSON, so its
        grammar has no marker that ends them.
        """
        return repair_arguments(text, K2Markers.of(self.options.tool_tokens).arguments)
