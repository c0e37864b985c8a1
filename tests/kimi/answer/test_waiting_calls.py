"""Native calls that wait."""

from __future__ import annotations

from moongate.kimi.answer.call import AnswerCall
from moongate.kimi.answer.waiting_calls import WaitingCalls


def named(name: str) -> AnswerCall:
    call = AnswerCall()
    call.name = name
    return call


def test_calls_wait_for_a_name_for_more_of_it_or_for_arguments() -> None:
    held = WaitingCalls()
    nameless, unsure, equal = named(""), named("ba"), named("bash")
    held.add(nameless, may_be_duplicate=False)
    held.add(unsure, may_be_duplicate=False)
    held.add(equal, may_be_duplicate=True)
    held.add(unsure, may_be_duplicate=False)
    assert [*held.all] == [nameless, unsure, equal]
    assert [*held.named] == [unsure, equal]
    assert [*held.unsure] == [unsure]
    held.remove(unsure)
    held.remove(unsure)
    assert [*held.all, *held.named, *held.unsure] == [nameless, equal, equal]
    held.clear()
    assert not held.all
    assert not held.named
