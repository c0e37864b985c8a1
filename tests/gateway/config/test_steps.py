from __future__ import annotations

from typing import Any

import pytest

from moongate.errors import ConfigError, ConfigErrors
from moongate.gateway.config.jsonc import ConfigDocument
from moongate.gateway.config.places import ConfigPlace, PartlyRead
from moongate.gateway.config.settings import Provider
from moongate.gateway.config.steps import Step, chains_of, option_error, read_use
from moongate.gateway.config.table import Table

KNOWN = ("Kimi", "Loud")
AGENT = {"preset": "agent"}


def chains(transformer: Any, models: list[Any] | None = None) -> dict[str, tuple[Step, ...]]:
    value = {"name": "p", "api_base_url": "http://x", "models": models or ["m"], "transformer": transformer}
    return chains_of(Table(Provider).read(value, ConfigPlace(ConfigDocument("f", None, {}))), KNOWN)


def refused(transformer: Any, models: list[Any] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        chains(transformer, models)
    return str(caught.value).removeprefix("f:1: ")


@pytest.mark.parametrize(
    ("use", "steps"),
    [
        ("Kimi", [Step("Kimi")]),
        (["Kimi"], [Step("Kimi")]),
        ([["Kimi"]], [Step("Kimi")]),
        ([["Kimi", AGENT]], [Step("Kimi", AGENT)]),
        (["Kimi", AGENT], [Step("Kimi", AGENT)]),
        ({"Kimi": AGENT}, [Step("Kimi", AGENT)]),
        ([{"Kimi": AGENT}], [Step("Kimi", AGENT)]),
        (["Kimi", "Loud"], [Step("Kimi"), Step("Loud")]),
        (["Kimi", {"Loud": {"x": 1}}], [Step("Kimi"), Step("Loud", {"x": 1})]),
        (["Kimi", AGENT, "Loud", {"x": 1}], [Step("Kimi", AGENT), Step("Loud", {"x": 1})]),
        ({"Kimi": {}, "Loud": {}}, [Step("Kimi"), Step("Loud")]),
        ([], []),
    ],
)
def test_every_form_of_use(use: Any, steps: list[Step]) -> None:
    assert chains({"use": use}) == {"m": tuple(steps)}


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("Kimmi", "transformer.use: unknown transformer 'Kimmi', did you mean 'Kimi'?"),
        (["kimi"], "transformer.use[0]: unknown transformer 'kimi', did you mean 'Kimi'?"),
        ([["Zzz", {}]], "transformer.use[0][0]: unknown transformer 'Zzz'; known: Kimi, Loud"),
        ([["Kimi", 3]], "transformer.use[0][1]: expected an object with options, found a number"),
        ([{"Kimi": []}], "transformer.use[0].Kimi: expected an object with options, found a list"),
        (7, 'transformer.use: expected "Name", ["Name", {options}] or {"Name": {options}}, found a number'),
        ([7], 'transformer.use[0]: expected "Name", ["Name", {options}] or {"Name": {options}}, found a number'),
        ([[]], 'transformer.use[0]: expected "Name", ["Name", {options}] or {"Name": {options}}, found a list'),
        (
            [{}],
            'transformer.use[0]: expected "Name", ["Name", {options}] or {"Name": {options}}, found an empty object',
        ),
        ([{"preset": "agent"}], "transformer.use[0].preset: unknown transformer 'preset'; known: Kimi, Loud"),
    ],
)
def test_a_bad_chain_is_refused(use: Any, message: str) -> None:
    assert refused({"use": use}) == message


def test_kimis_class_is_no_name_and_near_to_kimi() -> None:
    with pytest.raises(ConfigError, match="unknown transformer 'KimiTransformer', did you mean 'Kimi'"):
        read_use("KimiTransformer", ConfigPlace(ConfigDocument("f", None, {}), "use"), ["CustomTransformer", "Kimi"])


def test_a_model_adds_to_its_providers_chain_and_replaces_what_both_have() -> None:
    transformer = {"use": ["Kimi"], "b": {"use": ["Loud"]}, "c": {"use": [["Kimi", AGENT]]}}
    assert chains(transformer, ["a", "b", "c"]) == {
        "a": (Step("Kimi"),),
        "b": (Step("Kimi"), Step("Loud")),
        "c": (Step("Kimi", AGENT),),
    }


def test_a_models_options_override_those_of_the_first_step() -> None:
    models = [{"name": "a", "options": {"family": "k3"}}, "b"]
    found = chains({"use": [["Kimi", AGENT], "Loud"]}, models)
    assert found["a"] == (Step("Kimi", {**AGENT, "family": "k3"}), Step("Loud"))
    assert found["b"] == (Step("Kimi", AGENT), Step("Loud"))


@pytest.mark.parametrize(
    ("transformer", "models", "message"),
    [
        ({"us": []}, None, "transformer.us: neither 'use' nor a model of this provider: 'us', did you mean 'use'?"),
        ({"m": ["Kimi"]}, None, 'transformer.m: expected an object with its own "use"'),
        ({"m": {}}, None, 'transformer.m: expected an object with its own "use"'),
        ({"m": {"use": [], "x": 1}}, None, "transformer.m.x: unknown setting 'x'; known: use"),
        (
            {},
            [{"name": "m", "options": AGENT}],
            "models[0].options: options, but no transformer in the chain that could",
        ),
    ],
)
def test_other_errors_are_refused(transformer: Any, models: list[Any] | None, message: str) -> None:
    assert refused(transformer, models).startswith(message)


def test_a_transformers_own_error_gets_file_and_line() -> None:
    place = ConfigPlace(ConfigDocument("f", None, {"use[0][1].x": 7}), "use[0][1]")
    step = Step("Kimi", {}, place)
    assert str(option_error(step, ConfigError("bad", path="use[0][1].x"))) == "f:7: use[0][1].x: bad"
    assert str(option_error(step, ConfigError("bad"))) == "f:1: use[0][1]: bad"


def test_everything_that_is_wrong_in_chains_is_told_at_once() -> None:
    use = ["Kimmi", {"preset": "agent"}, ["Kimi", {"any": 1}], "Lod"]
    with pytest.raises(PartlyRead) as caught:
        chains({"use": use, "n": {"use": "Kimi"}}, ["m"])
    assert [error.message for error in caught.value.errors] == [
        "unknown transformer 'Kimmi', did you mean 'Kimi'?",
        "unknown transformer 'Lod', did you mean 'Loud'?",
        "neither 'use' nor a model of this provider: 'n'; known: use, m",
    ]
    assert caught.value.value == {"m": (Step("Kimi", {"any": 1}),)}  # good for finding what is wrong in options


def test_options_of_a_model_are_no_mistake_because_the_chain_is_one() -> None:
    with pytest.raises(ConfigErrors) as caught:
        chains({"use": "Kimmi"}, [{"name": "m", "options": AGENT}])
    assert len(caught.value.errors) == 1
