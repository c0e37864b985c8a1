"""The parser of one choice of a K2 model."""

from __future__ import annotations

from tests.kimi.marker_reading import Heard, Said, read

from moongate.kimi.k2 import K2Parser, diagram
from moongate.kimi.offer import Offer, ToolKeys
from moongate.kimi.options import K2_TOKENS

OFFER = Offer({"bash": ToolKeys(frozenset({"command"}))})


def test_calls_of_both_fields() -> None:
    call = f"{K2_TOKENS.call_begin}functions.bash:%d{K2_TOKENS.arg_begin}{{}}{K2_TOKENS.call_end}"
    heard = read(K2Parser(K2_TOKENS, OFFER, False), [("reasoning", "r" + call % 0), ("content", "<think>c" + call % 1)])
    assert heard == Heard("", "rc", [Said(f"functions.bash:{n}", "bash", "{}", False) for n in (0, 1)], heard.dropped)


def test_the_diagram_is_that_of_the_table() -> None:
    assert "Header --> Arguments" in diagram()
