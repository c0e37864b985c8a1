"""What all choices of one answer share: the rules that are on, what was offered, and the notes."""

from __future__ import annotations

from typing import Any

from moongate.chat.contracts import Note
from moongate.kimi.arguments import repaired
from moongate.kimi.family import ModelFacts
from moongate.kimi.ids import plain_tool_name
from moongate.kimi.k2 import K2Parser
from moongate.kimi.k3 import K3Parser
from moongate.kimi.markers import K2Markers
from moongate.kimi.offer import Offer
from moongate.kimi.options import KimiOptions
from moongate.kimi.pieces import Parser
from moongate.kimi.request import Prepared


class Answer:
    """One per exchange."""

    __slots__ = (
        "_model",
        "gate",
        "ledger",
        "mends_calls",
        "names",
        "notes",
        "offer",
        "options",
        "renames",
        "tokens",
    )

    def __init__(
        self,
        options: KimiOptions,
        model: ModelFacts,
        prepared: Prepared,
        tokens: tuple[str, ...],
        gate: tuple[bytes, ...] | None,
    ) -> None:
        self.options = options
        self.ledger = prepared.ledger
        self.names = prepared.names
        self.offer = prepared.offer
        self.notes = prepared.notes
        self.tokens: tuple[str, ...] = () if options.manual_tool_parsing else tokens  # emptied when one was seen
        self.gate = gate
        self.renames = bool(prepared.names.renamed)
        self.mends_calls = self.ledger.active or options.manual_tool_parsing or self.renames
        self._model = model

    def note(self, kind: str, where: str, before: Any = None, after: Any = None) -> None:
        self.notes.append(Note(kind, where, before, after))

    def parser(self) -> Parser | None:
        """A parser for one choice; None if markers are left alone."""
        if not self.options.manual_tool_parsing:
            return None
        offer = self.offer
        if self.renames:  # the model saw the sent names, and writes them
            offer = Offer({self.names.sent(name): tool for name, tool in offer.tools.items()}, offer.calls_allowed)
        if self._model.family == "k3":
            return K3Parser(offer, self.options.repair_arguments)
        return K2Parser(self.options.tool_tokens, offer, self.options.repair_arguments)

    def marker_seen(self, where: str, marker: str) -> None:
        self.note("markers_seen", where, marker)
        self.tokens = ()

    def shown_name(self, name: str, where: str) -> str:
        """The name of a native call as the client knows it (sections 3.10 and 10)."""
        shown = self.names.original(name) if self.renames else name
        if self.ledger.active:
            shown = plain_tool_name(shown, self.offer.tools)
        if shown != name:
            self.note("tool_name", f"{where}.function.name", name, shown)
        return shown

    def shown_id(self, given: str) -> str:
        """The id of a call with the name that the client knows in it."""
        return self.names.original_id(given, self.options.id_prefix) if self.renames else given

    def mended_arguments(self, text: str, where: str) -> str:
        """The arguments of a whole native call, repaired if that is asked for (section 5.6)."""
        if not self.options.repair_arguments:
            return text
        mended = repaired(text, K2Markers.of(self.options.tool_tokens).arguments)
        if mended != text:
            self.note("arguments", f"{where}.function.arguments", text, mended)
        return mended
