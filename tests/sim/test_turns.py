from __future__ import annotations

from typing import Any

import pytest

from moongate.sim.behaviours import behaviour_of
from moongate.sim.conversation import SimAnswer
from moongate.sim.turns import TurnMemory, drawn

SCHEMA = {
    "type": "object",
    "properties": {"days": {"type": "integer"}},
    "required": ["days"],
    "additionalProperties": False,
}
TOOLS = [{"type": "function", "function": {"name": "lookup_tide", "parameters": SCHEMA}}]
Message = dict[str, Any]


def user(number: int) -> Message:
    return {"role": "user", "content": f"question {number}"}


def ask(memory: TurnMemory, rows: str, *messages: Message, **fields: Any) -> tuple[str, SimAnswer]:
    request = {"messages": list(messages), "tools": TOOLS, **fields}
    played = memory.play(request, behaviour_of(f"kimi-k2-sim-{rows}"))
    return played.kind, played.answer


def replied(answer: SimAnswer, result: str) -> list[Message]:
    calls = [
        {"id": f"x{c.number}", "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in answer.calls
    ]
    results = [{"role": "tool", "tool_call_id": f"x{c.number}", "content": result} for c in answer.calls]
    return [{"role": "assistant", "content": answer.text, "tool_calls": calls}, *results]


@pytest.mark.parametrize("percent", [72, 90, 97])
def test_the_share_of_right_turns_is_as_named(percent: int) -> None:
    wrong = sum(drawn(7, turn, percent / 100) is not None for turn in range(4000))
    assert abs(wrong / 4000 - (100 - percent) / 100) < 0.02


def test_seed_and_number_decide() -> None:
    def kinds(seed: int) -> list[str]:
        memory = TurnMemory()
        return [ask(memory, f"valid-50-seed-{seed}", user(n))[0] for n in range(40)]

    assert kinds(3) == kinds(3) != kinds(4)
    assert {"", *kinds(3)} != {""}


def test_equal_requests_are_drawn_one_by_one_without_a_recovery() -> None:
    memory = TurnMemory()
    kinds = {ask(memory, "valid-50", user(0))[0] for _ in range(40)}
    assert "" in kinds
    assert len(kinds) > 2


def test_a_right_vendor_is_never_drawn() -> None:
    memory = TurnMemory()
    assert ask(memory, "valid-100", user(0))[0] == ""
    assert memory.turns == 0


def test_right_when_the_same_request_comes_again() -> None:
    memory = TurnMemory()
    assert ask(memory, "missing-required-second-try", user(0))[0] == "missing-required"
    assert ask(memory, "missing-required-second-try", user(0))[0] == ""
    # A third one is a new turn.
    assert ask(memory, "missing-required-second-try", user(0))[0] == "missing-required"


def test_right_only_after_the_error_came_back() -> None:
    memory = TurnMemory()
    rows = "missing-required-after-error"
    for _ in range(3):
        kind, wrong = ask(memory, rows, user(0))
        assert kind == "missing-required"
    kind, right = ask(memory, rows, user(0), *replied(wrong, "days is required"))
    assert kind == ""
    assert [(call.arguments, call.number) for call in right.calls] == [('{"days":0}', 1)]
    # The refused try stays out of the task: two more calls, then the text.
    history = [user(0), *replied(wrong, "days is required"), *replied(right, "r")]
    assert len(ask(memory, rows, *history)[1].calls) == 2


def test_a_gateway_that_asks_again_by_itself_leaves_no_trace_in_the_conversation() -> None:
    memory = TurnMemory()
    rows = "missing-required-after-error"
    wrong = ask(memory, rows, user(0))[1]
    right = ask(memory, rows, user(0), *replied(wrong, "days is required"))[1]
    kind, second = ask(memory, rows, user(0), *replied(right, "r"))
    assert kind == "missing-required"
    assert len(second.calls) == 2


def test_a_missing_call_can_be_asked_for() -> None:
    memory = TurnMemory()
    kind, text = ask(memory, "missing-calls-after-error", user(0))
    assert (kind, text.calls) == ("missing-calls", ())
    history = [{"role": "assistant", "content": text.text}, {"role": "user", "content": "call a tool"}]
    assert ask(memory, "missing-calls-after-error", user(0), *history)[0] == ""


def test_never_right() -> None:
    memory = TurnMemory()
    wrong = ask(memory, "never-right", user(0))[1]
    assert ask(memory, "never-right", user(0))[0]
    assert ask(memory, "never-right", user(0), *replied(wrong, "no"))[0]


def test_a_call_that_was_mended_on_its_way_counts_as_right() -> None:
    memory = TurnMemory()
    kind, wrong = ask(memory, "unknown-properties", user(0))
    assert kind == "unknown-properties"
    mended = SimAnswer("", "", tuple(type(c)(c.name, '{"days": 0}', c.number, c.position) for c in wrong.calls))
    assert len(ask(memory, "unknown-properties", user(0), *replied(mended, "r"))[1].calls) == 2
    assert len(ask(memory, "unknown-properties", user(0), *replied(wrong, "r"), user(1))[1].calls) == 1


def test_needless_calls_come_where_a_text_is_due() -> None:
    memory = TurnMemory()
    right = ask(memory, "needless-calls", user(0))
    assert right[0] == ""
    assert right[1].calls
    done = {"role": "assistant", "content": "x"}
    plea = {"role": "user", "content": "Say hello, and do not use any tools."}
    kind, answer = ask(memory, "needless-calls", plea)
    assert kind == "needless-calls"
    assert answer.calls
    assert ask(memory, "needless-calls", done, plea, tool_choice="none")[0] == ""
    assert ask(memory, "needless-calls", plea, tools=[])[0] == ""
    assert ask(memory, "needless-calls-valid-100", plea)[0] == ""
    kinds = {ask(memory, "needless-calls-valid-50", plea)[0] for _ in range(20)}
    assert kinds == {"", "needless-calls"}
    assert ask(memory, "wrong-types", plea)[0] == ""


def test_the_memory_is_bounded() -> None:
    memory = TurnMemory(limit=2)
    for number in range(4):
        ask(memory, "never-right", user(number))
    assert len(memory.damaged) == 2
