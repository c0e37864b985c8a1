"""Section 13: a clean answer is one in which nothing was changed, whatever came; a repaired one was changed."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.answers import (
    MESSAGES,
    MODELS,
    PARSING,
    REQUEST,
    Message,
    reasons,
    rngs,
    stream_of,
    summary_of,
    thorough,
    tool,
)
from tests.properties.marked_texts import SECTIONS, words
from tests.support.assembly import assemble

from moongate import KimiTransformer, Session

RENAMED = {**REQUEST, "tools": [*REQUEST["tools"], tool("21st.magic", "x")]}
HOSTS = st.sampled_from(["https://llm.example/v1", "https://api.moonshot.ai/v1"])  # the second one gets other names
OPTIONS: list[dict[str, Any]] = [{}, PARSING, {"preset": "agent"}, {"idNormalization": True}]


def bare(section: str) -> str:
    """The calls of a section without its markers, which are removed with a note."""
    return section.removeprefix("<|tool_calls_section_begin|>").removesuffix("<|tool_calls_section_end|>")


@pytest.mark.parametrize("family", ["k2", "k3"])
@thorough
@given(data=st.data(), rng=rngs)
def test_clean_means_unchanged(family: str, data: st.DataObject, rng: Random) -> None:
    calls = SECTIONS[family].map(bare)
    message = data.draw(MESSAGES[family] | st.builds(Message, words, calls, st.just(()), reasons))
    kimi = KimiTransformer.from_config(
        data.draw(st.sampled_from(OPTIONS)), model=MODELS[family], base_url=data.draw(HOSTS)
    )
    body = {"choices": [message.whole()]}
    whole, streamed = kimi.begin(RENAMED), kimi.begin(RENAMED)
    reply = whole.reply(body)
    session = Session(streamed, "text/event-stream")
    out = session.feed(stream_of(message, rng)) + session.close()
    if whole.verdict.worth != "damaged":
        assert (whole.verdict.worth == "clean") == (reply == body)
    if streamed.verdict.worth == "clean":
        assert assemble(out).summary() == summary_of(body)
    if not message.calls:  # native calls stand before the texts in a whole answer, and their arguments are repaired
        assert streamed.verdict == whole.verdict
