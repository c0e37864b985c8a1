"""Which offered tool takes these argument keys."""

from __future__ import annotations

from moongate.kimi.tool_set import ToolKeys, ToolSet

READ = ToolKeys(frozenset({"path", "limit"}), frozenset({"path"}))
NEWS = ToolKeys(frozenset({"topic"}), frozenset({"topic"}))
LIST = ToolKeys(frozenset({"path"}))


def test_a_tool_accepts_keys_if_it_knows_all_and_requires_no_others() -> None:
    assert READ.accepts({"path"})
    assert READ.accepts({"path", "limit"})
    assert not READ.accepts({"limit"})
    assert not READ.accepts({"path", "x"})


def test_only_a_unique_match_is_returned() -> None:
    tool_set = ToolSet({"read": READ, "news": NEWS, "list": LIST})
    assert tool_set.only_match({"topic"}) == "news"
    assert tool_set.only_match({"path"}) is None
    assert tool_set.only_match({"x"}) is None
    assert tool_set.only_match(()) == "list"


def test_keys_are_known_by_the_names_under_which_they_were_sent_too() -> None:
    tool_set = ToolSet({"news": NEWS, "list": LIST}, properties={"news": {"topic_1f": "topic"}})
    assert tool_set.only_match({"topic_1f"}) == "news"
    assert tool_set.only_match({"topic"}) == "news"
    assert tool_set.only_match({"path_1f"}) is None


def test_what_was_offered() -> None:
    tool_set = ToolSet({"read": READ})
    assert tool_set.has("read")
    assert not tool_set.has("write")
    assert not ToolSet({}).has("read")
