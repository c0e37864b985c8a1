"""Which offered tool takes these argument keys."""

from __future__ import annotations

from moongate.kimi.offer import Offer, ToolKeys

READ = ToolKeys(frozenset({"path", "limit"}), frozenset({"path"}))
NEWS = ToolKeys(frozenset({"topic"}), frozenset({"topic"}))
LIST = ToolKeys(frozenset({"path"}))


def test_a_tool_accepts_keys_if_it_knows_all_and_requires_no_others() -> None:
    assert READ.accepts({"path"})
    assert READ.accepts({"path", "limit"})
    assert not READ.accepts({"limit"})
    assert not READ.accepts({"path", "x"})


def test_only_a_unique_match_is_returned() -> None:
    offer = Offer({"read": READ, "news": NEWS, "list": LIST})
    assert offer.only_match({"topic"}) == "news"
    assert offer.only_match({"path"}) is None
    assert offer.only_match({"x"}) is None
    assert offer.only_match(()) == "list"


def test_what_was_offered() -> None:
    offer = Offer({"read": READ})
    assert offer.has("read")
    assert not offer.has("write")
    assert not Offer({}).has("read")
