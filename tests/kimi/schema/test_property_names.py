from __future__ import annotations

import pytest

from moongate.kimi.schema.property_names import MAX_SENT_CHARS, SENT_NAME, PropertyNames
from moongate.kimi.schema.step_budget import StepBudget


def names(text: bytes = b"{}") -> PropertyNames:
    return PropertyNames(text, StepBudget())


@pytest.mark.parametrize("name", ["$ref", "$defs", "anyOf", "required", "additionalProperties", "", "名/x", "a/" * 100])
def test_reserved_names_get_another_that_can_be_turned_back(name: str) -> None:
    known = names()
    sent = known.sent(name, {}, in_definition=True)
    assert SENT_NAME.fullmatch(f'"{sent}"')
    assert len(sent) <= MAX_SENT_CHARS
    assert known.sent(name, {}, in_definition=True) == sent == names().sent(name, {}, in_definition=True)
    assert known.originals == {sent: name}


def test_other_names_stay_as_they_are() -> None:
    known = names()
    assert known.sent("name", {}, in_definition=True) == "name"
    assert known.sent("a/b", {}, in_definition=False) == "a/b"
    assert known.originals == {}


def test_a_name_with_braces_stays_unless_something_below_it_is_looked_up() -> None:
    known = names()
    assert known.sent("{id}", {"type": "string"}, in_definition=False) == "{id}"
    assert known.sent("{id}", {"type": "string", "enum": ["a"]}, in_definition=False).startswith("id_")


def test_a_sent_name_that_occurs_in_the_schema_is_not_used() -> None:
    first = names().sent("required", {}, in_definition=False)
    second = names(f'{{"{first}": 1}}'.encode()).sent("required", {}, in_definition=False)
    assert second != first
    assert second.startswith("required_")
