"""Reversible tool names: valid, unique, the same in every request, and back again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from moongate.kimi.names import MOONSHOT_NAME, UNCHANGED, ToolNames

ANY_NAME = st.text(max_size=90) | st.from_regex(MOONSHOT_NAME, fullmatch=True)


def test_names_that_the_host_takes_stay() -> None:
    names = ToolNames.of(["get_weather", "read-file", "_ab"], MOONSHOT_NAME)
    assert names is UNCHANGED
    assert names.sent("get_weather") == names.original("get_weather") == "get_weather"
    assert names.sent_id("functions.get_weather:0", "functions") == "functions.get_weather:0"


def test_a_host_without_a_rule_takes_any_name() -> None:
    assert ToolNames.of(["21st.magic", ""], None) is UNCHANGED


def test_a_refused_name_goes_out_readable_and_comes_back() -> None:
    names = ToolNames.of(["21st.magic", "get_weather"], MOONSHOT_NAME)
    sent = names.sent("21st.magic")
    assert sent.startswith("_21st_magic_")
    assert MOONSHOT_NAME.fullmatch(sent)
    assert names.original(sent) == "21st.magic"
    assert names.sent("get_weather") == "get_weather"
    assert names.original("never_heard_of") == "never_heard_of"


def test_names_with_nothing_readable_long_ones_and_broken_text() -> None:
    originals = ["天气", "", "-", "x" * 200, "x" * 201, "a", "-dash", "9", "bad\ud800half", "line\n"]
    names = ToolNames.of(originals, MOONSHOT_NAME)
    sent = [names.sent(name) for name in originals]
    assert all(MOONSHOT_NAME.fullmatch(name) for name in sent)
    assert len(set(sent)) == len(originals)
    assert sent[0].startswith("tool_")
    assert sent[6].startswith("_-dash_")


def test_a_sent_name_never_takes_the_name_of_another_tool() -> None:
    wished = ToolNames.of(["a.b"], MOONSHOT_NAME).sent("a.b")
    names = ToolNames.of(["a.b", wished], MOONSHOT_NAME)
    assert names.sent(wished) == wished
    assert names.sent("a.b") != wished
    assert names.original(names.sent("a.b")) == "a.b"
    assert names.original(wished) == wished


def test_tools_of_the_past_are_renamed_too_but_built_in_ones_are_not() -> None:
    names = ToolNames.of(["get_weather"], MOONSHOT_NAME, past=["old.tool", "$web_search", "get_weather", "old.tool"])
    assert MOONSHOT_NAME.fullmatch(names.sent("old.tool"))
    assert names.original(names.sent("old.tool")) == "old.tool"
    assert names.sent("$web_search") == "$web_search"


def test_a_function_tool_that_looks_built_in_is_still_renamed() -> None:
    names = ToolNames.of(["$mine"], MOONSHOT_NAME, past=["$mine"])
    assert MOONSHOT_NAME.fullmatch(names.sent("$mine"))


def test_ids_bear_the_name_and_keep_their_index() -> None:
    names = ToolNames.of(["a:b.c"], MOONSHOT_NAME)
    sent = names.sent("a:b.c")
    assert names.sent_id("functions.a:b.c:12", "functions") == f"functions.{sent}:12"
    assert names.original_id(f"functions.{sent}:12", "functions") == "functions.a:b.c:12"
    for other in ("", "call_1", f"other.{sent}:1", f"functions.{sent}", f"{sent}:1", "functions.get:1"):
        assert names.original_id(other, "functions") == other


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(ANY_NAME, max_size=8), st.lists(ANY_NAME, max_size=4), ANY_NAME)
def test_any_names(offered: list[str], past: list[str], one_more: str) -> None:
    names = ToolNames.of(offered, MOONSHOT_NAME, past)
    sent = [names.sent(name) for name in dict.fromkeys(offered)]
    assert len(set(sent)) == len(sent)
    for name, said in zip(dict.fromkeys(offered), sent, strict=True):
        assert MOONSHOT_NAME.fullmatch(said)
        assert names.original(said) == name
    for name in past:
        assert names.original(names.sent(name)) == name or names.sent(name) in sent
    grown = ToolNames.of([*offered, one_more], MOONSHOT_NAME, past)
    assert one_more in sent or all(grown.sent(name) == names.sent(name) for name in offered)
