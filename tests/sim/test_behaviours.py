from __future__ import annotations

import pytest

from moongate.sim.behaviours import (
    GENERATIONS,
    ROWS,
    Behaviour,
    UnknownModel,
    behaviour_of,
    generation_of,
    listed_models,
    model_name,
    rows_of,
)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_name_carries_its_generation(generation: str) -> None:
    assert behaviour_of(model_name(generation)) == Behaviour(generation=generation)
    assert behaviour_of(model_name(generation, "strict", "markers")).generation == generation


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("moonshotai/Kimi-K2-Instruct", "k2"),
        ("kimi-k2-0905-preview", "k2"),
        ("kimi_k2_thinking_turbo", "k2-thinking"),
        ("accounts/fireworks/models/kimi-k2p5", "k2.5"),
        ("Kimi-K2.7-Code", "k2.7"),
        ("k3-256k", "k3"),
        ("moonshot-v1-8k", "moonshot-v1"),
        ("anything", "k2"),
    ],
)
def test_real_names_are_read_too(name: str, generation: str) -> None:
    assert generation_of(name) == generation
    assert behaviour_of(name).fault == ""


def test_every_row_can_be_asked_for_and_changes_only_known_fields() -> None:
    for row in ROWS:
        told = behaviour_of(model_name(row.families[0], row.name))
        assert {field: getattr(told, field) for field in row.fields} == row.fields


def test_the_longest_row_wins() -> None:
    assert [row.name for row in rows_of("markers-reasoning-429-once-markers")] == [
        "markers-reasoning",
        "429-once",
        "markers",
    ]


def test_rows_given_beside_the_name_come_first() -> None:
    told = behaviour_of("vendor/kimi-k2-sim-empty-ids", "strict-foreign_ids")
    assert (told.strict, told.ids) == (True, "empty")


def test_an_unknown_row_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownModel, match="did you mean 'foreign-ids'"):
        behaviour_of("kimi-k2-sim-foreing-ids")
    with pytest.raises(UnknownModel, match=r"cannot play 'zzz'$"):
        behaviour_of("kimi-k2-sim-zzz")


def test_listed_models_can_all_be_played() -> None:
    names = listed_models()
    assert len(names) == len(set(names)) > 50
    for name in names:
        behaviour_of(name)
