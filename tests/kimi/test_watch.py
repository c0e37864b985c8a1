from __future__ import annotations

import pytest

from moongate.kimi.options import K2_TOKENS, ToolTokens
from moongate.kimi.watch import MarkerWatch, gate_of, watched_tokens

TOKENS = watched_tokens("k2", K2_TOKENS)


def test_a_marker_is_seen_however_it_is_cut() -> None:
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


def test_the_markers_of_the_families() -> None:
    assert "<|tool_call_section_begin|>" in TOKENS
    assert "<|open|>" in watched_tokens("k3", K2_TOKENS)
    assert "[[T]]" in watched_tokens("k2", ToolTokens(section_begin="[[T]]"))


@pytest.mark.parametrize(
    ("tokens", "gate"),
    [
        (TOKENS, b"<"),
        (("[[A]]", "{b}"), b"<[{"),
        (("/a",), None),
        (('"a',), None),
        (("\\a",), None),
        (("é",), None),
        (("\n",), None),
    ],
)
def test_the_gate_is_the_first_bytes_of_markers(tokens: tuple[str, ...], gate: bytes | None) -> None:
    assert gate_of(tokens) == gate
