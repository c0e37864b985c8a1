"""Reversible tool names: valid, unique, the same in every request, and back again."""

from __future__ import annotations

from moongate.kimi.request.tool_names import MOONSHOT_NAME, UNCHANGED, ToolNames


def test_accepted_names_are_unchanged() -> None:
    names = ToolNames.of(["get_weather", "read-file", "_ab"], MOONSHOT_NAME)
    assert names is UNCHANGED
    assert names.sent("get_weather") == names.original("get_weather") == "get_weather"
    assert names.sent_id("functions.get_weather:0", "functions") == "functions.get_weather:0"


def test_a_host_without_a_rule_accepts_any_name() -> None:
    assert ToolNames.of(["21st.magic", ""], None) is UNCHANGED


def test_a_refused_name_is_sent_readable_and_mapped_back() -> None:
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


def test_a_sent_name_never_equals_another_tools_name() -> None:
    wished = ToolNames.of(["a.b"], MOONSHOT_NAME).sent("a.b")
    names = ToolNames.of(["a.b", wished], MOONSHOT_NAME)
    assert names.sent(wished) == wished
    assert names.sent("a.b") != wished
    assert names.original(names.sent("a.b")) == "a.b"
    assert names.original(wished) == wished


def test_mentioned_tools_are_renamed_too_but_built_in_ones_are_not() -> None:
    names = ToolNames.of(
        ["get_weather"], MOONSHOT_NAME, mentioned=["old.tool", "$web_search", "get_weather", "old.tool"]
    )
    assert MOONSHOT_NAME.fullmatch(names.sent("old.tool"))
    assert names.original(names.sent("old.tool")) == "old.tool"
    assert names.sent("$web_search") == "$web_search"


def test_a_function_tool_that_looks_built_in_is_still_renamed() -> None:
    names = ToolNames.of(["$mine"], MOONSHOT_NAME, mentioned=["$mine"])
    assert MOONSHOT_NAME.fullmatch(names.sent("$mine"))


def test_ids_contain_the_name_and_keep_their_index() -> None:
    names = ToolNames.of(["a:b.c"], MOONSHOT_NAME)
    sent = names.sent("a:b.c")
    assert names.sent_id("functions.a:b.c:12", "functions") == f"functions.{sent}:12"
    assert names.original_id(f"functions.{sent}:12", "functions") == "functions.a:b.c:12"
    for other in ("", "call_1", f"other.{sent}:1", f"functions.{sent}", f"{sent}:1", "functions.get:1"):
        assert names.original_id(other, "functions") == other


def test_names_of_properties_are_added_to_those_of_tools() -> None:
    names = ToolNames.of(["a.b"], MOONSHOT_NAME)
    assert names.with_properties({}) is names
    added = names.with_properties({"a.b": {"required_1": "required"}})
    assert added.properties == {"a.b": {"required_1": "required"}}
    assert added.original(names.sent("a.b")) == "a.b"
