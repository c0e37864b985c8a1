from __future__ import annotations

from dataclasses import replace

import pytest

from moongate.kimi.generations import GENERATIONS, Generation, normalise_name, recognise_model
from moongate.kimi.markers.k2 import K2


@pytest.mark.parametrize(
    ("model", "family", "generation"),
    [
        ("moonshotai/Kimi-K2-Instruct-0905", "k2", "k2"),
        ("kimi-k2-0711-preview", "k2", "k2"),
        ("kimi-k2-turbo-preview", "k2", "k2"),
        ("moonshotai/kimi-k2:free", "k2", "k2"),
        ("kimik2", "k2", "k2"),
        ("kimi-k2-fork3", "k2", "k2"),
        ("kimi-k2-thinking-turbo", "k2", "k2-thinking"),
        ("moonshotai/Kimi-K2-Thinking", "k2", "k2-thinking"),
        ("KIMI_K2_5", "k2", "k2.5"),
        ("accounts/fireworks/models/kimi-k2p5", "k2", "k2.5"),
        ("kimi-k2-5", "k2", "k2.5"),
        ("kimi-k2.5-thinking", "k2", "k2.5"),
        ("k2.6", "k2", "k2.6"),
        ("kimi-k2.7-code-highspeed", "k2", "k2.7"),
        ("kimi-k2.8", "k2", "k2.8"),
        ("kimi-k2.9", "k2", "unknown"),
        ("moonshot-v1-8k-vision-preview", "k2", "moonshot-v1"),
        ("kimi-latest", "k2", "unknown"),
        ("kimi-for-coding", "k2", "k2.8"),
        ("kimi-for-coding-preview", "k2", "k2.8"),
        ("Kimi_For_Coding", "k2", "k2.8"),
        ("acme-k3", "k2", "unknown"),
        ("", "k2", "unknown"),
        ("kimi-k3", "k3", "k3"),
        ("KIMI_K3", "k3", "k3"),
        ("Kimi.K3.turbo", "k3", "k3"),
        ("kimi-k3p5", "k3", "k3"),
        ("accounts/fireworks/models/kimi-k3", "k3", "k3"),
        ("kimik3", "k3", "k3"),
        ("kimi-code-k3", "k3", "k3"),
        ("k3", "k3", "k3"),
        ("k3-256k", "k3", "k3"),
        ("k3-128k", "k3", "k3"),
        ("kimi-k3-1m", "k3", "k3"),
        ("kimi-k3.10", "k3", "k3"),
        ("kimi-k3.1-pro", "k3", "k3.1"),
        ("kimi-k3.1-pro-highspeed", "k3", "k3.1"),
        ("moonshotai/Kimi-K3.1-Pro", "k3", "k3.1"),
        ("k3.1-pro", "k3", "k3.1"),
        ("accounts/fireworks/models/kimi-k3p1", "k3", "k3.1"),
    ],
)
def test_family_and_generation_are_read_from_the_name(model: str, family: str, generation: str) -> None:
    facts = recognise_model(model)
    assert (facts.family.name, facts.generation) == (family, generation)


@pytest.mark.parametrize("row", GENERATIONS, ids=lambda row: row.facts.title)
def test_each_row_is_found_by_its_examples(row: Generation) -> None:
    for model in row.examples:
        facts = recognise_model(model)
        assert replace(facts, why="") == row.facts


def test_the_option_wins_over_the_name() -> None:
    forced = recognise_model("my-alias", "k3")
    assert (forced.family.name, forced.generation) == ("k3", "k3")
    assert recognise_model("kimi-k3.1", "k3").generation == "k3.1"
    assert recognise_model("kimi-k3", "k2").family is K2
    assert recognise_model("kimi-k2.6", "k2").generation == "k2.6"


def test_each_recognition_says_why() -> None:
    assert "K2.6" in recognise_model("kimi-k2.6").why
    assert "nothing" in recognise_model("my-alias").why
    assert "option" in recognise_model("my-alias", "k2").why
    assert "option" in recognise_model("my-alias", "k3").why


def test_which_models_think() -> None:
    thinking = {row.facts.generation for row in GENERATIONS if row.facts.thinks}
    assert thinking == {"k2-thinking", "k2.5", "k2.6", "k2.7", "k2.8", "k3", "k3.1"}


def test_the_last_row_takes_any_name() -> None:
    assert GENERATIONS[-1].pattern is None


def test_names_are_normalised() -> None:
    assert normalise_name("Accounts/X_Kimi.K2p5:free") == "accounts-x-kimi-k2-5-free"
