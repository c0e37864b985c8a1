"""One call: deltas held back, what the client sees, what changes."""

from __future__ import annotations

from moongate.kimi.answer.call import AnswerCall, EmittedCalls, call_object, changed, lacks_index


def test_a_call_is_rendered_as_the_client_sees_it() -> None:
    call = AnswerCall()
    call.original_id, call.name = "x", "functions.bash"
    call.parts += ["{", "}"]
    assert call.rendered() == call_object("x", "functions.bash", "{}")
    call.id, call.client_name = "functions.bash:0", "bash"
    assert call.rendered() == call_object("functions.bash:0", "bash", "{}")


def test_whole_calls_one_by_one() -> None:
    calls = EmittedCalls(7, ["x", "y"], ["bash", "read"], ["{}", "[]"])
    assert list(calls) == [(7, "x", "bash", "{}"), (8, "y", "read", "[]")]


def test_deltas_held_back_are_merged() -> None:
    call = AnswerCall()
    call.hold({"index": 0, "id": None, "function": {"name": None, "arguments": "{"}, "extra": 1})
    call.hold({"index": 0, "type": "function", "function": {"arguments": "}", "more": 2}})
    call.parts += ["{", "}"]
    function = {"name": "bash", "arguments": "{}", "more": 2}
    released = {"index": 0, "extra": 1, "type": "function", "function": function}
    assert call.released({"function": {"name": "bash"}}) == released
    call.original_id = "x"
    assert call.released({"id": "y"}) == {**released, "id": "x"}


def test_a_custom_call_keeps_its_shape() -> None:
    call = AnswerCall()
    call.hold({"index": 0, "type": "custom", "custom": {"input": "*** "}})
    call.hold({"index": 0})
    call.parts += ["*** ", "Begin"]
    call.name = "patch"
    released = call.released({"custom": {"name": "patch", "input": "Begin"}})
    assert released == {"index": 0, "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    call.id = "functions.patch:0"
    body = {"name": "patch", "input": "*** Begin"}
    assert call.rendered() == {"id": "functions.patch:0", "type": "custom", "custom": body}


def test_bodies_that_are_no_objects_are_not_held_back() -> None:
    call = AnswerCall()
    call.hold({"index": 0, "function": {"arguments": "{"}, "custom": 1.5})
    call.hold({"custom": {"name": "patch"}, "function": None})
    assert call.held == {"index": 0, "function": {"arguments": "{"}, "custom": {"name": "patch"}}


def test_a_name_in_pieces_is_put_together_before_it_leaves() -> None:
    call = AnswerCall(lambda name: "read_file".startswith(name) and name != "read_file")
    call.take_name("read")
    assert not call.name_is_whole
    call.take_name("read")
    assert call.name == "read"
    call.take_name("_file")
    assert (call.name, call.name_is_whole) == ("read_file", True)
    call.id = "functions.read_file:0"
    call.take_name("more")
    assert call.name == "read_file"


def test_arguments_end_a_name() -> None:
    call = AnswerCall(str.isidentifier)
    assert not call.name_is_whole
    call.take_name("go")
    call.take_name("go")
    assert (call.name, call.name_is_whole) == ("gogo", False)
    call.parts.append("{")
    assert call.name_is_whole


def test_without_a_rule_the_first_name_counts() -> None:
    call = AnswerCall()
    call.take_name("a")
    call.take_name("b")
    assert (call.name, call.name_is_whole) == ("a", True)


def test_releasing_a_call_without_held_deltas() -> None:
    assert AnswerCall().released({}) == {"function": {"arguments": ""}}


def test_deltas_without_an_index() -> None:
    assert lacks_index({})
    assert lacks_index({"index": "0"})
    assert not lacks_index({"index": 0})
    assert not lacks_index("odd")


def test_only_what_changes_is_copied() -> None:
    function = {"name": "a", "arguments": "{}"}
    entry = {"id": "x", "function": function}
    assert changed(entry, {}, {}) is entry
    assert changed(entry, {"id": "y"}, {}) == {"id": "y", "function": function}
    assert changed(entry, {}, {"name": "b"}) == {"id": "x", "function": {"name": "b", "arguments": "{}"}}
    assert entry == {"id": "x", "function": {"name": "a", "arguments": "{}"}}


def test_arguments_are_whole_when_they_are_an_object() -> None:
    call = AnswerCall()
    assert not call.is_whole()
    for part, is_whole in (('{"a": {', False), ("}", False), ("} ", True), (" ]", False), ("}", False)):
        call.parts.append(part)
        assert call.is_whole() is is_whole
    half = AnswerCall()
    half.parts.append('{"a": "\ud83d"}')
    assert half.is_whole(), "a text may end in half a character"


def test_whether_arguments_are_whole_is_looked_at_a_limited_number_of_times() -> None:
    call = AnswerCall()
    call.parts += ["{", "}"]
    assert sum(call.is_whole() for _ in range(100)) == 16
