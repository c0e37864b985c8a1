"""One call: what waits, what is told, what changes."""

from __future__ import annotations

from moongate.kimi.call import Call, ToldCalls, call_object, changed, lacks_index


def test_a_call_is_told_as_the_client_knows_it() -> None:
    call = Call()
    call.given, call.name = "x", "functions.bash"
    call.parts += ["{", "}"]
    assert call.told() == call_object("x", "functions.bash", "{}")
    call.id, call.shown = "functions.bash:0", "bash"
    assert call.told() == call_object("functions.bash:0", "bash", "{}")


def test_whole_calls_one_by_one() -> None:
    told = ToldCalls(7, ["x", "y"], ["bash", "read"], ["{}", "[]"])
    assert list(told) == [(7, "x", "bash", "{}"), (8, "y", "read", "[]")]


def test_deltas_wait_as_one() -> None:
    call = Call()
    call.hold({"index": 0, "id": None, "function": {"name": None, "arguments": "{"}, "extra": 1})
    call.hold({"index": 0, "type": "function", "function": {"arguments": "}", "more": 2}})
    call.parts += ["{", "}"]
    function = {"name": "bash", "arguments": "{}", "more": 2}
    told = {"index": 0, "extra": 1, "type": "function", "function": function}
    assert call.released({"function": {"name": "bash"}}) == told
    call.given = "x"
    assert call.released({"id": "y"}) == {**told, "id": "x"}


def test_nothing_waited() -> None:
    assert Call().released({}) == {"function": {"arguments": ""}}


def test_deltas_without_an_index() -> None:
    assert lacks_index({})
    assert lacks_index({"index": "0"})
    assert not lacks_index({"index": 0})
    assert not lacks_index("odd")


def test_only_what_changes_is_made_anew() -> None:
    function = {"name": "a", "arguments": "{}"}
    entry = {"id": "x", "function": function}
    assert changed(entry, {}, function, {}) is entry
    assert changed(entry, {"id": "y"}, function, {}) == {"id": "y", "function": function}
    assert changed(entry, {}, function, {"name": "b"}) == {"id": "x", "function": {"name": "b", "arguments": "{}"}}
    assert entry == {"id": "x", "function": {"name": "a", "arguments": "{}"}}
