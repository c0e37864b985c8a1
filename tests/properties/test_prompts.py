"""Prompts as the model sees them: those of a client's history equal those of the conversation that took place."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

import pytest
from tests.properties.chat_templates import PROMPTS
from tests.properties.conversations import ID_STYLES, TOOLS, Conversation, Writer
from tests.properties.front_bodies import messages_body, responses_body
from tests.support.length import by_length

from moongate.chat.contracts import Dialect
from moongate.dialects.fronts import MESSAGES, RESPONSES
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import JsonObject

CONVERSATIONS = 1000  # for each family and each kind of test
PORTION = 100
SEEDS = range(0, by_length(CONVERSATIONS, 10 * CONVERSATIONS), PORTION)
MODELS = {"k2": "kimi-k2.6", "k3": "kimi-k3"}
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {"acceptRoleTool": False},  # so that empty ids get as far as the repair
    "renumbered": {"acceptRoleTool": False, "idNormalization": True},
}

families = pytest.mark.parametrize("family", PROMPTS)
portions = pytest.mark.parametrize("first", SEEDS)


def kimi(family: str, options: str = "default") -> KimiTransformer:
    return KimiTransformer.from_config(OPTIONS[options], model=MODELS[family])


def repaired(transformer: KimiTransformer, messages: list[JsonObject]) -> list[JsonObject]:
    before = copy.deepcopy(messages)
    sent: list[JsonObject] = transformer.begin({"messages": messages, "tools": TOOLS}).request["messages"]
    assert messages == before
    return sent


def conversation(seed: int, *, tidy: bool = False) -> Conversation:
    return Writer(Random(seed), tidy).write()


@portions
@pytest.mark.parametrize("options", OPTIONS)
@families
def test_the_model_sees_the_conversation_that_took_place(family: str, options: str, first: int) -> None:
    prompt, transformer = PROMPTS[family], kimi(family, options)
    for seed in range(first, first + PORTION):
        made = conversation(seed)
        assert prompt(repaired(transformer, made.sent)) == prompt(made.seen), seed


@portions
@families
def test_the_prompt_of_a_shorter_history_is_the_beginning_of_that_of_a_longer_one(family: str, first: int) -> None:
    prompt, transformer = PROMPTS[family], kimi(family)
    for seed in range(first, first + PORTION):
        made = conversation(seed)
        longest = prompt(repaired(transformer, made.sent))
        for seen, sent in made.cuts:
            shorter = prompt(repaired(transformer, made.sent[:sent]))
            assert shorter == prompt(made.seen[:seen]), (seed, sent)
            assert longest.startswith(shorter), (seed, sent)


@portions
@pytest.mark.parametrize(("front", "body"), [(MESSAGES, messages_body), (RESPONSES, responses_body)])
@families
def test_the_model_sees_it_through_every_front(family: str, front: Dialect, body: Any, first: int) -> None:
    prompt, transformer = PROMPTS[family], kimi(family)
    for seed in range(first, first + PORTION):
        made = conversation(seed, tidy=True)
        chat = front.decode(body(made.sent))
        assert prompt(repaired(transformer, chat["messages"])) == prompt(made.seen), seed


@pytest.mark.parametrize("style", [style for style in ID_STYLES if style != "canonical"])
def test_without_repair_the_model_sees_something_else(style: str) -> None:
    """Each kind of id alone makes another prompt: the tests above see it."""
    differences = 0
    for seed in range(50):
        writer = Writer(Random(seed))
        for _ in range(3):
            writer.call(style)
        made = writer.conversation
        prompt = PROMPTS["k2"]
        differences += prompt(made.sent) != prompt(made.seen)
        assert prompt(repaired(kimi("k2"), made.sent)) == prompt(made.seen)
    assert differences > 25
