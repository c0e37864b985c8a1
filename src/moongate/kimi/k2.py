"""The marker parser of the K2 family (sections 5.1 to 5.6): its table is `k2_table`, what walks it `k2_lane`."""

from __future__ import annotations

from moongate.kimi.k2_lane import K2Lane
from moongate.kimi.k2_table import diagram
from moongate.kimi.lanes import Lanes
from moongate.kimi.markers import K2Markers
from moongate.kimi.offer import Offer
from moongate.kimi.options import ToolTokens

__all__ = ["K2Parser", "diagram"]


class K2Parser(Lanes):
    """One choice of a K2 model's answer (`pieces.Parser`)."""

    __slots__ = ()

    def __init__(self, tokens: ToolTokens, offer: Offer, repair_arguments: bool) -> None:
        markers = K2Markers.of(tokens)
        super().__init__(
            K2Lane("content", markers, offer, repair_arguments),
            K2Lane("reasoning", markers, offer, repair_arguments),
        )
