from __future__ import annotations

from moongate.chat.contracts import Note
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import JsonObject
from moongate.pipeline.chain import Chain
from moongate.pipeline.learned_rules import (
    MAX_REMEMBERED,
    MAX_SHOWN,
    REMEMBERED_SECONDS,
    LearnedRules,
    RuleTrial,
)

CHAIN = Chain([KimiTransformer.from_config({}, model="some-kimi", base_url="https://relay.example")])
SAMPLING = "invalid temperature: only 1 is allowed for this model"
THINKING = "invalid thinking: not supported"
LIMIT = "max_tokens is not supported"
REQUEST: JsonObject = {"messages": [], "temperature": 0.5, "thinking": {"type": "enabled"}}


def sent(chain: Chain) -> JsonObject:
    return chain.begin(REQUEST).request


def test_a_target_that_has_taught_nothing_keeps_its_chain() -> None:
    memory = LearnedRules(CHAIN)
    assert memory.chain(0.0) is CHAIN
    assert memory.rules(0.0) == frozenset()


def test_a_rule_is_remembered_for_an_hour() -> None:
    memory = LearnedRules(CHAIN)
    memory.learn("sampling", 10.0)
    chain = memory.chain(11.0)
    assert sent(chain) == {"messages": [], "thinking": {"type": "enabled"}}
    assert memory.chain(12.0) is chain
    assert memory.rules(9.0 + REMEMBERED_SECONDS) == {"sampling"}
    assert memory.rules(10.0 + REMEMBERED_SECONDS) == frozenset()
    assert sent(memory.chain(10.0 + REMEMBERED_SECONDS)) == REQUEST


def test_rules_are_forgotten_one_by_one() -> None:
    memory = LearnedRules(CHAIN)
    memory.learn("sampling", 0.0)
    memory.learn("thinking", 100.0)
    assert sent(memory.chain(101.0)) == {"messages": []}
    assert sent(memory.chain(1.0 + REMEMBERED_SECONDS)) == {"messages": [], "temperature": 0.5}


def test_the_memory_is_bounded() -> None:
    memory = LearnedRules(CHAIN)
    for number in range(2 * MAX_REMEMBERED):
        memory.learn(f"rule {number}", 0.0)
    assert len(memory.rules(1.0)) == MAX_REMEMBERED


def test_a_reload_keeps_what_was_learned() -> None:
    old, new = LearnedRules(CHAIN), LearnedRules(CHAIN)
    old.learn("sampling", 0.0)
    new.inherit(old.until)
    old.learn("thinking", 0.0)
    assert new.rules(1.0) == {"sampling"}


def test_a_trial_turns_rules_on_and_remembers_them_if_they_helped() -> None:
    memory = LearnedRules(CHAIN)
    trial = RuleTrial(memory, 0.0)
    assert sent(trial.chain) == REQUEST
    assert trial.answer(SAMPLING)
    assert trial.answer(THINKING)
    assert sent(trial.chain) == {"messages": []}
    assert memory.rules(0.0) == frozenset()
    assert trial.accepted(1.0) == [Note("refusal", "", SAMPLING, "sampling"), Note("refusal", "", THINKING, "thinking")]
    assert memory.rules(2.0) == {"sampling", "thinking"}


def test_a_trial_tries_each_rule_once_and_two_at_most() -> None:
    trial = RuleTrial(LearnedRules(CHAIN), 0.0)
    assert [trial.answer(each) for each in (SAMPLING, SAMPLING, "unknown", THINKING, LIMIT)] == [
        *(True, False, False, True, False)
    ]


def test_a_rule_that_is_remembered_is_not_tried_again() -> None:
    memory = LearnedRules(CHAIN)
    memory.learn("sampling", 0.0)
    trial = RuleTrial(memory, 1.0)
    assert not trial.answer(SAMPLING)
    assert trial.answer(THINKING)
    assert sent(trial.chain) == {"messages": []}


def test_a_note_shows_the_beginning_of_the_refusal() -> None:
    trial = RuleTrial(LearnedRules(CHAIN), 0.0)
    trial.answer(THINKING + "x" * 1000)
    assert len(trial.accepted(0.0)[0].before) == MAX_SHOWN
