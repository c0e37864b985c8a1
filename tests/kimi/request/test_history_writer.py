from __future__ import annotations

import copy
from typing import Any

import pytest

from moongate.chat.contracts import Note
from moongate.kimi.notes import Notes
from moongate.kimi.request.history import NO_OUTPUT, read_history
from moongate.kimi.request.history_writer import HistoryWriter, object_text
from moongate.kimi.request.reasoning import ReasoningRule
from moongate.kimi.request.tool_names import MOONSHOT_NAME, UNCHANGED, ToolNames
from moongate.payload import JsonObject

USER: JsonObject = {"role": "user", "content": "go"}


def call(call_id: Any, name: str = "bash", arguments: Any = "{}", **more: Any) -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def assistant(*calls: JsonObject, **more: Any) -> JsonObject:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


def tool(tool_call_id: Any, content: str = "ok", **more: Any) -> JsonObject:
    return {"role": "tool", "tool_call_id": tool_call_id, "content": content, **more}


class Writing:
    """The messages written with final ids from `ids`, and the notes."""

    def __init__(self, *messages: JsonObject, ids: dict[str, str] | None = None, **changes: Any) -> None:
        before = copy.deepcopy(messages)
        history = read_history(list(messages), accept_role_tool=False)
        history.final_ids = [(ids or {}).get(each, each) for each in history.original_ids]
        self.notes = Notes()
        settings: dict[str, Any] = {
            "repairs_ids": True,
            "repairs_history": True,
            "names": UNCHANGED,
            "id_prefix": None,
            "reasoning": None,
            "notes": self.notes,
            **changes,
        }
        original = list(messages)
        self.messages = HistoryWriter(**settings).write(original, history)
        self.unchanged = self.messages is original
        assert messages == before
        assert self.unchanged is (not self.notes)

    @property
    def kinds(self) -> list[str]:
        return [note.kind for note in self.notes]


def test_a_valid_history_is_the_same_list() -> None:
    assert Writing(USER, assistant(call("a")), tool("a"), {"role": "assistant", "content": "done"}).unchanged


def test_the_id_of_a_result_follows_its_call() -> None:
    written = Writing(assistant(call("x"), call("y")), tool("x"), tool("y"), ids={"x": "A"})
    assert written.messages == [assistant(call("A"), call("y")), tool("A"), tool("y")]
    assert written.notes == [Note("history_id", "messages[0].tool_calls[0].id", "x", "A")]


def test_a_result_matched_by_position_is_noted() -> None:
    written = Writing(assistant(call("x")), tool("lost"))
    assert written.messages == [assistant(call("x")), tool("x")]
    assert written.notes == [Note("history_id", "messages[1].tool_call_id", "lost", "x")]


def test_results_follow_their_message_in_the_order_of_its_calls() -> None:
    turn = assistant(call("a"), call("b"))
    written = Writing(turn, tool("b", "B"), USER, tool("a", "A"))
    assert written.messages == [turn, tool("a", "A"), tool("b", "B"), USER]
    assert set(written.kinds) == {"history_message"}


def test_a_call_without_a_result_gets_no_output_in_call_order() -> None:
    turn = assistant(call("a"), call("b"), call("c"))
    written = Writing(turn, tool("b"))
    assert written.messages == [turn, tool("a", NO_OUTPUT), tool("b"), tool("c", NO_OUTPUT)]


def test_second_results_and_orphans_are_dropped() -> None:
    written = Writing(tool("z"), assistant(call("a")), tool("a", "1"), tool("a", "2"), tool("lost"))
    assert written.messages == [assistant(call("a")), tool("a", "1")]
    assert written.kinds == ["history_message"] * 3


def test_empty_messages_are_dropped_and_developer_becomes_system() -> None:
    written = Writing({"role": "developer", "content": "d", "x": 1}, {"role": "assistant", "content": ""}, USER)
    assert written.messages == [{"role": "system", "content": "d", "x": 1}, USER]
    assert written.kinds == ["history_message"] * 2


def test_empty_text_next_to_calls_is_dropped() -> None:
    empty, text = {"type": "text", "text": ""}, {"type": "text", "text": "x"}
    assert Writing(assistant(call("a"), content=[empty, text]), tool("a")).messages[0]["content"] == [text]
    assert Writing(assistant(call("a"), content=[empty]), tool("a")).messages[0]["content"] is None
    assert Writing(assistant(call("a"), content=""), tool("a")).unchanged
    assert Writing(assistant(call("a"), content=[text]), tool("a")).unchanged
    assert Writing(assistant(call("a"), content=[empty]), tool("a"), repairs_history=False).unchanged


def test_arguments_become_a_json_object_in_text_form() -> None:
    written = Writing(assistant(call("a", arguments="oops")), tool("a"))
    assert written.messages[0] == assistant(call("a"))
    assert written.notes == [Note("arguments", "messages[0].tool_calls[0].function.arguments", "oops", "{}")]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"a": 1}', '{"a": 1}'),
        (' {"a":\t1}\n', ' {"a":\t1}\n'),
        ({"a": [1]}, '{"a":[1]}'),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ('"[1]"', "{}"),
        ('"text"', "{}"),
        ("[1]", "{}"),
        ("null", "{}"),
        ("", "{}"),
        ("  ", "{}"),
        ("{'a': 1}", "{}"),
        ('{"a": 1', "{}"),
        ('{"a": NaN}', "{}"),
        (None, "{}"),
        (5, "{}"),
        ([1], "{}"),
    ],
)
def test_object_text(arguments: Any, text: str) -> None:
    assert object_text(arguments) == text
    assert object_text(text) is text


def test_a_missing_type_is_filled_in() -> None:
    bare = {"id": "a", "function": {"name": "bash", "arguments": "{}"}}
    assert Writing(assistant(bare), tool("a")).messages[0] == assistant(call("a"))
    assert Writing(assistant(call("a", type="builtin_function")), tool("a")).unchanged
    assert Writing(assistant(bare), tool("a"), repairs_ids=False).unchanged


def test_without_history_rules_messages_keep_their_positions() -> None:
    turn = assistant(call("a", arguments="oops"), call("b"))
    empty, developer = {"role": "assistant", "content": ""}, {"role": "developer", "content": "d"}
    assert Writing(
        developer, empty, turn, USER, tool("b"), tool("z"), tool("a"), tool("a"), repairs_history=False
    ).unchanged


def test_without_history_rules_results_still_follow_their_calls() -> None:
    turn = assistant(call("x"))
    written = Writing(turn, tool("x", "1"), USER, tool("x", "2"), tool("lost"), ids={"x": "A"}, repairs_history=False)
    assert written.messages == [assistant(call("A")), tool("A", "1"), USER, tool("A", "2"), tool("lost")]


def test_without_history_rules_only_results_directly_after_are_sorted() -> None:
    turn = assistant(call("a"), call("b"), call("c"))
    written = Writing(turn, tool("c", "C"), tool("a", "A"), USER, tool("b", "B"), repairs_history=False)
    assert written.messages == [turn, tool("a", "A"), tool("c", "C"), USER, tool("b", "B")]
    assert set(written.kinds) == {"history_message"}


def test_without_history_rules_a_foreign_result_keeps_its_position() -> None:
    first, second = assistant(call("z")), assistant(call("a"), call("b"))
    run = [tool("b", "B"), tool("z", "Z"), tool("a", "A"), tool("b", "again")]
    written = Writing(first, second, *run, repairs_history=False)
    assert written.messages == [first, second, tool("a", "A"), tool("z", "Z"), tool("b", "B"), tool("b", "again")]


def test_without_id_rules_ids_and_order_stay() -> None:
    turn = assistant(call("a"), call("b"))
    assert Writing(turn, tool("b"), tool("a"), repairs_ids=False).unchanged
    assert Writing(turn, tool("b"), tool("a"), repairs_ids=False, repairs_history=False).unchanged
    moved = Writing(turn, USER, tool("b"), tool("a"), repairs_ids=False)
    assert moved.messages == [turn, tool("b"), tool("a"), USER]
    odd = Writing(turn, USER, tool("a"), tool(7), repairs_ids=False)
    assert odd.messages == [turn, tool("a"), tool(7), USER]
    filled = Writing(turn, tool("b"), repairs_ids=False)
    assert filled.messages == [turn, tool("a", NO_OUTPUT), tool("b")]
    without_id = assistant(call(""), call("b"))
    assert Writing(without_id, tool("b"), repairs_ids=False).unchanged


def test_refused_names_are_renamed_in_ids_too() -> None:
    names = ToolNames.of(["21st.magic"], MOONSHOT_NAME)
    sent = names.sent("21st.magic")
    messages = [
        assistant(call("functions.21st.magic:3", "21st.magic")),
        tool("functions.21st.magic:3", name="21st.magic"),
        tool("functions.21st.magic:3", name="bash"),
    ]
    written = Writing(*messages, names=names, id_prefix="functions", repairs_history=False)
    assert written.messages == [
        assistant(call(f"functions.{sent}:3", sent)),
        tool(f"functions.{sent}:3", name=sent),
        tool(f"functions.{sent}:3", name="bash"),
    ]
    assert set(written.kinds) == {"history_id", "tool_name"}
    opaque = Writing(*messages, names=names)
    assert opaque.messages == [
        assistant(call("functions.21st.magic:3", sent)),
        tool("functions.21st.magic:3", name=sent),
    ]


def test_reasoning_is_changed_on_messages_with_calls_only() -> None:
    written = Writing(
        assistant(call("a")), tool("a"), {"role": "assistant", "content": "x"}, reasoning=ReasoningRule(True)
    )
    assert written.messages[0] == assistant(call("a"), reasoning_content=" ")
    assert written.kinds == ["reasoning"]


NAMELESS: JsonObject = {"id": "n", "type": "function", "function": {"name": "", "arguments": "{}"}}


@pytest.mark.parametrize("repairs_history", [True, False])
def test_a_call_without_a_name_is_not_sent(repairs_history: bool) -> None:
    writing = Writing(
        *(USER, assistant(NAMELESS, call("a")), tool("n", "N"), tool("a"), USER), repairs_history=repairs_history
    )
    assert writing.messages == [USER, assistant(call("a")), tool("a"), USER]
    assert sorted(writing.kinds) == ["call_dropped", "history_message"]


@pytest.mark.parametrize("repairs_history", [True, False])
@pytest.mark.parametrize("order", ["nab", "bna", "ban", "anb"])
def test_the_results_of_the_others_are_in_order(repairs_history: bool, order: str) -> None:
    results = [tool(each, each.upper()) for each in order]
    writing = Writing(assistant(call("a"), NAMELESS, call("b")), *results, repairs_history=repairs_history)
    assert writing.messages == [assistant(call("a"), call("b")), tool("a", "A"), tool("b", "B")]


@pytest.mark.parametrize("repairs_history", [True, False])
def test_text_beside_calls_without_names_is_sent(repairs_history: bool) -> None:
    writing = Writing(
        *(USER, assistant(NAMELESS, content="hm"), tool("n"), USER),
        repairs_history=repairs_history,
        reasoning=ReasoningRule(fill_missing=True),
    )
    assert writing.messages == [USER, {"role": "assistant", "content": "hm"}, USER]


def test_a_message_of_which_nothing_is_left_is_not_sent() -> None:
    messages = (USER, assistant(NAMELESS, NAMELESS), tool("n"), USER)
    assert Writing(*messages).messages == [USER, USER]
    left = Writing(*messages, repairs_history=False).messages
    assert left == [USER, {"role": "assistant", "content": None}, USER]


def test_removed_messages_are_not_sent() -> None:
    messages = [USER, {"role": "system", "content": ""}, assistant(call("a")), tool("a")]
    for repairs_history in (True, False):
        writer = HistoryWriter(True, repairs_history, UNCHANGED, None, None, Notes())
        assert writer.write(messages, read_history(messages, True), frozenset({1})) == [messages[0], *messages[2:]]


def test_without_history_rules_results_between_which_a_message_goes_are_in_order() -> None:
    turn = assistant(call("a"), call("b"))
    messages = [turn, tool("b"), {"role": "system", "content": ""}, tool("a")]
    writer = HistoryWriter(True, False, UNCHANGED, None, None, Notes())
    written = writer.write(messages, read_history(messages, True), frozenset({2}))
    assert written == [turn, tool("a"), tool("b")]


def test_custom_calls_keep_their_shape() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "not JSON"}}
    writing = Writing(assistant(custom), tool("c"), ids={"c": "functions.patch:0"})
    assert writing.messages == [assistant({**custom, "id": "functions.patch:0"}), tool("functions.patch:0")]
    untyped = {"id": "c", "custom": {"name": "patch", "input": "x"}}
    assert Writing(assistant(untyped), tool("c")).messages[0] == assistant({**untyped, "type": "custom"})


def test_with_section_3_off_a_call_without_a_name_is_left_to_the_provider() -> None:
    messages = [assistant(NAMELESS), tool("n")]
    history = read_history(messages, True, repairs_ids=False)
    writer = HistoryWriter(False, True, UNCHANGED, None, None, Notes())
    assert writer.write(messages, history) is messages
