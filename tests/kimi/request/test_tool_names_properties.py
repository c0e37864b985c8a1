"""Property tests of `tool_names`; `test_tool_names` has the examples."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.length import examples

from moongate.kimi.request.tool_names import MOONSHOT_NAME, ToolNames

ANY_NAME = st.text(max_size=90) | st.from_regex(MOONSHOT_NAME, fullmatch=True)


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(st.lists(ANY_NAME, max_size=8), st.lists(ANY_NAME, max_size=4), ANY_NAME)
def test_any_names(offered: list[str], mentioned: list[str], one_more: str) -> None:
    names = ToolNames.of(offered, MOONSHOT_NAME, mentioned)
    sent = [names.sent(name) for name in dict.fromkeys(offered)]
    assert len(set(sent)) == len(sent)
    for name, sent_name in zip(dict.fromkeys(offered), sent, strict=True):
        assert MOONSHOT_NAME.fullmatch(sent_name)
        assert names.original(sent_name) == name
    for name in mentioned:
        assert names.original(names.sent(name)) == name or names.sent(name) in sent
    grown = ToolNames.of([*offered, one_more], MOONSHOT_NAME, mentioned)
    assert one_more in sent or all(grown.sent(name) == names.sent(name) for name in offered)
