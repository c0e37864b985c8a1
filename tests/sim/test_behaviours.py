from __future__ import annotations

import pytest

from moongate.sim.behaviours import (
    GENERATIONS,
    Behaviour,
    UnknownModel,
    behaviour_of,
    generation_of,
    listed_models,
    model_name,
    rows_of,
)
from moongate.sim.rows import ROWS


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_name_carries_its_generation(generation: str) -> None:
    assert behaviour_of(model_name(generation)) == Behaviour(generation=generation)
    assert behaviour_of(model_name(generation, "strict", "foreign-ids")).generation == generation


@pytest.mark.parametrize(
    ("name", "generation"),
    [
        ("moonshotai/Kimi-K2-Instruct", "k2"),
        ("kimi-k2-0905-preview", "k2"),
        ("kimi_k2_thinking_turbo", "k2-thinking"),
        ("accounts/fireworks/models/kimi-k2p5", "k2.5"),
        ("Kimi-K2.7-Code", "k2.7"),
        ("k3-256k", "k3"),
        ("kimi-k3-128k", "k3"),
        ("kimi-k3.1-pro", "k3.1"),
        ("k3.1-pro", "k3.1"),
        ("kimi-k2.8-preview", "k2.8"),
        ("kimi-for-coding", "k2.8"),
        ("moonshot-v1-8k", "moonshot-v1"),
        ("anything", "k2"),
    ],
)
def test_real_model_names_select_a_generation_too(name: str, generation: str) -> None:
    assert generation_of(name) == generation
    assert behaviour_of(name).fault == ""


def test_every_row_can_be_selected_and_changes_only_known_fields() -> None:
    for row in ROWS:
        behaviour = behaviour_of(model_name(row.example_family, row.name))
        assert {field: getattr(behaviour, field) for field in row.fields} == row.fields


def test_a_family_of_which_the_simulator_knows_no_markup_can_play_everything_else() -> None:
    assert {row.name for row in ROWS if row.families and row.group != "markup"} == {"leaked-markers"}


def test_the_longest_row_wins() -> None:
    assert [row.name for row in rows_of("markers-reasoning-429-once-markers")] == [
        "markers-reasoning",
        "429-once",
        "markers",
    ]


def test_rows_given_beside_the_name_come_first() -> None:
    behaviour = behaviour_of("vendor/kimi-k2-sim-empty-ids", "strict-foreign_ids")
    assert (behaviour.strict, behaviour.ids) == (True, "empty")


def test_an_unknown_row_is_rejected_with_the_closest_name() -> None:
    with pytest.raises(UnknownModel, match="did you mean 'foreign-ids'"):
        behaviour_of("kimi-k2-sim-foreing-ids")
    with pytest.raises(UnknownModel, match=r"cannot play 'zzz'$"):
        behaviour_of("kimi-k2-sim-zzz")


def test_every_listed_model_has_a_behaviour() -> None:
    names = listed_models()
    assert len(names) == len(set(names)) > 50
    for name in names:
        behaviour_of(name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kimi-k2-simstrict", "rows follow '-sim-'"),
        ("kimi-k2-sim-json-block", "the row 'json-block' is for K3 only"),
        ("kimi-k3-sim-bare-calls", "the row 'bare-calls' is for K2 only"),
        ("kimi-k2-sim-foreign-ids-empty-ids", "the rows 'foreign-ids' and 'empty-ids' exclude each other"),
        ("kimi-k2-sim-valid-101", "expected 0 to 100 percent"),
        ("kimi-k2-sim-strict-foreign-ids-nonsense", "cannot play 'nonsense'"),
    ],
)
def test_a_name_that_cannot_be_played_as_it_reads_is_refused(name: str, text: str) -> None:
    with pytest.raises(UnknownModel, match=text):
        behaviour_of(name)


def test_rows_with_a_number() -> None:
    behaviour = behaviour_of("kimi-k2-sim-valid-72-seed-12-second-try-wrong-types")
    assert (behaviour.validity, behaviour.seed, behaviour.recovery) == (72, 12, "second")
    assert behaviour.damage == ("wrong-types",)
    assert behaviour.valid_share == 0.72


@pytest.mark.parametrize(
    ("rows", "share"), [("", 1.0), ("-wrong-types", 0.0), ("-never-right", 0.0), ("-valid-0", 0.0), ("-valid-100", 1.0)]
)
def test_the_share_of_right_turns(rows: str, share: float) -> None:
    assert behaviour_of(f"kimi-k2-sim{rows}").valid_share == share


def test_rows_that_add_up_are_added_over_all_sources() -> None:
    behaviour = behaviour_of("kimi-k2-sim-name-wall-schema-wall", "fixed-sampling", "three-efforts")
    assert behaviour.refuses == ("sampling", "effort", "names", "schema")


def test_validation_is_of_moonshot_or_of_a_relay() -> None:
    assert not behaviour_of("kimi-k2-sim-walls").validates
    assert behaviour_of("kimi-k2-sim-walls-moonshot").validates
    assert behaviour_of("kimi-k2-sim-relay").validates
