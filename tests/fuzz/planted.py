"""Targets with one known defect each, to prove that each kind of defect is found."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fuzz import samples
from tests.fuzz.draw import Draw
from tests.fuzz.guide import Target
from tests.fuzz.targets import K2_TOKENS, TOKENS, TOOL_SETS, front_target, grammar, sse

from moongate.dialects.openai_chat import ChatDialect
from moongate.kimi.markers.k2 import K2Parser
from moongate.kimi.markers.pieces import CallArguments, Channel, Piece
from moongate.payload import JsonObject


class LosingParser(K2Parser):
    """Loses a single brace in the arguments of a call."""

    def feed(self, channel: Channel, text: str) -> list[Piece]:
        return [piece for piece in super().feed(channel, text) if piece != CallArguments("}")]


class UncheckedDialect(ChatDialect):
    """Assumes that `tool_choice` has a function."""

    def decode(self, body: JsonObject) -> JsonObject:
        choice = body.get("tool_choice")
        if isinstance(choice, dict) and choice["function"]:
            return super().decode(body)
        return body


def loses(data: bytes) -> None:
    grammar(Draw(data), K2_TOKENS, lambda: LosingParser(TOKENS, TOOL_SETS[1], False))


def hangs(data: bytes) -> None:
    sse(data)
    while data.count(b"\n\n") > 1:
        pass


PLANTED: Mapping[str, Target] = {
    "loses": loses,
    "raises": front_target(UncheckedDialect(), samples.CHAT),
    "hangs": hangs,
}
