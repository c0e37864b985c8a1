from __future__ import annotations

from moongate.kimi.answer.marker_watch import MarkerWatch, marker_starts
from moongate.kimi.markers.k2 import K2
from moongate.kimi.tool_tokens import K2_TOKENS

TOKENS = K2.markers(K2_TOKENS)


def test_a_marker_is_found_at_every_cut() -> None:
    text = "a < b <|tool <|tool_call_begin|> <|tool_call_end|>"
    for size in range(1, len(text) + 1):
        watch = MarkerWatch(TOKENS)
        found = [watch.find(text[at : at + size]) for at in range(0, len(text), size)]
        assert next(filter(None, found)) == "<|tool_call_begin|>"


def test_only_the_beginning_of_a_marker_is_pending() -> None:
    watch = MarkerWatch(TOKENS)
    for text, pending in (("a", False), ("<", True), ("b", False), ("x <|tool_c", True), ("<|", True), ("|>", False)):
        assert watch.find(text) is None
        assert watch.pending is pending


def test_where_a_marker_or_a_tag_may_begin() -> None:
    assert marker_starts(TOKENS) == "<"
    assert marker_starts(("[[A]]", "{b}")) == "<[{"
