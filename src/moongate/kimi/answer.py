"""What all choices of one answer share: the rules that are on, what was offered, and the notes."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from moongate.kimi.arguments import repaired
from moongate.kimi.family import ModelFacts
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
        "mends_shape",
        "names",
        "notes",
        "offer",
        "offered",
        "only_ids",
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
        gate: bytes | None,
    ) -> None:
        offer, ledger, names = prepared.offer, prepared.ledger, prepared.names
        parses, renames, offered = options.manual_tool_parsing, bool(names.renamed), offer.tools
        self.options = options
        self.notes = prepared.notes
        self.ledger, self.names, self.offer = ledger, names, offer
        self.tokens: tuple[str, ...] = () if parses else tokens  # emptied when one was seen
        self.gate = gate
        self.renames = renames
        # The model saw the sent names, and may know the client's from the text.
        self.offered: Container[str] = {*offered, *map(names.sent, offered)} if renames else offered
        self.mends_calls = ledger.active or parses or renames
        # With this off as well, every stream leaves with its own bytes (section 1).
        self.mends_shape = options.enforce_finish_reason_loop
        # Of a usual native call in a whole answer nothing is looked at but its id.
        self.only_ids = ledger.active and not (renames or parses or options.repair_arguments)
        self._model = model

    def note(self, kind: str, where: str, before: Any = None, after: Any = None) -> None:
        self.notes.add(kind, where, before, after)

    def parser(self) -> Parser:
        """A parser for one choice, where markers are not left alone."""
        offer = self.offer
        if self.renames:  # the model saw the sent names, and writes them
            offer = Offer({self.names.sent(name): tool for name, tool in offer.tools.items()}, offer.calls_allowed)
        if self._model.family == "k3":
            return K3Parser(offer, self.options.repair_arguments)
        return K2Parser(self.options.tool_tokens, offer, self.options.repair_arguments)

    def marker_seen(self, where: str, marker: str) -> None:
        self.note("markers_seen", where, marker)
        self.tokens = ()

    def mended_arguments(self, text: str) -> str:
        """The arguments of a whole native call, repaired (section 5.6)."""
        return repaired(text, K2Markers.of(self.options.tool_tokens).arguments)
