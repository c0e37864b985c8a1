"""Targets with a defect each: the proof that each kind of defect is found."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fuzz import samples
from tests.fuzz.draw import Draw
from tests.fuzz.guide import Target
from tests.fuzz.targets import K2_SCRAPS, OFFERS, TOKENS, front_door, grammar, sse

from moongate.dialects.openai_chat import ChatDialect
from moongate.kimi.k2 import K2Parser
from moongate.kimi.pieces import CallArguments, Channel, Piece
from moongate.payload import JsonObject


class Forgetful(K2Parser):
    """Loses a brace that comes alone, in the arguments of a call."""

    def feed(self, channel: Channel, text: str) -> list[Piece]:
        return [piece for piece in super().feed(channel, text) if piece != CallArguments("}")]


class Trusting(ChatDialect):
    """Takes for granted that a choice names a function."""

    def decode(self, body: JsonObject) -> JsonObject:
        choice = body.get("tool_choice")
        if isinstance(choice, dict) and choice["function"]:
            return super().decode(body)
        return body


def forgets(data: bytes) -> None:
    grammar(Draw(data), K2_SCRAPS, lambda: Forgetful(TOKENS, OFFERS[1], False))


def hangs(data: bytes) -> None:
    sse(data)
    while data.count(b"\n\n") > 1:
        pass


PLANTED: Mapping[str, Target] = {"forgets": forgets, "raises": front_door(Trusting(), samples.CHAT), "hangs": hangs}
