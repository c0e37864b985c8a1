"""What holds at one place: own words, `allOf`, references; and what the copies may cost."""

from __future__ import annotations

from typing import Any

from moongate.kimi.schema.conjuncts import Conjuncts
from moongate.kimi.schema.references import References
from moongate.kimi.schema.words import MAX_SIZE

ROOT: dict[str, Any] = {
    "$defs": {
        "A": {"type": "string", "title": "A"},
        "B": {"$ref": "#/$defs/A", "minLength": 1},
        "Loop": {"$ref": "#/$defs/Loop", "title": "loop"},
        "Big": {"description": "x" * MAX_SIZE},
    }
}


def conjuncts(root: dict[str, Any] = ROOT, *, copying: bool = True) -> Conjuncts:
    return Conjuncts(References({"$defs": {**root["$defs"]}}, "t"), copying=copying)


SMALL = {"$defs": {name: schema for name, schema in ROOT["$defs"].items() if name != "Big"}}


def test_words_of_all_parts_the_own_first() -> None:
    place = conjuncts(SMALL).at({"title": "own", "allOf": [{"$ref": "#/$defs/B"}, True, {"maxLength": 3}]}, set())
    assert place.words == {"title": "own", "maxLength": 3, "minLength": 1, "type": "string"}
    assert place.followed == {"/$defs/A", "/$defs/B"}
    assert place.bare is None


def test_a_lone_reference_stays() -> None:
    for schema in ({"$ref": "#/$defs/A"}, {"allOf": [{"$ref": "#/$defs/A"}], "$comment": "c"}):
        place = conjuncts(SMALL).at(schema, set())
        assert place.bare is not None
        assert place.bare.key == "/$defs/A"


def test_a_reference_inside_its_own_target_stays_bare() -> None:
    place = conjuncts(SMALL).at({"$ref": "#/$defs/A", "title": "t"}, {"/$defs/A"})
    assert place.bare is not None
    assert place.words == {}
    root = conjuncts(SMALL).at({"$ref": "#", "title": "t"}, set())
    assert root.bare is not None
    assert root.bare.is_root


def test_a_reference_is_followed_once() -> None:
    place = conjuncts(SMALL).at({"$ref": "#/$defs/Loop", "allOf": [{"$ref": "#/$defs/Loop"}]}, set())
    assert place.words == {"title": "loop"}
    assert place.followed == {"/$defs/Loop"}


def test_references_to_nothing_say_nothing() -> None:
    assert conjuncts(SMALL).at({"$ref": "#/$defs/None", "title": "t"}, set()).words == {"title": "t"}
    assert conjuncts(SMALL).at({"$ref": 5}, set()).words == {}


def test_what_cannot_be_paid_stays_a_reference() -> None:
    place = conjuncts(SMALL, copying=False).at({"$ref": "#/$defs/A", "title": "t"}, set())
    assert place.bare is not None
    assert not place.affordable
    assert place.words == {"title": "t"}


def test_the_budget_is_what_the_host_takes_less_the_schema_itself() -> None:
    rich = conjuncts(SMALL)
    assert rich.afford(MAX_SIZE // 2)
    assert not rich.afford(MAX_SIZE // 2)
    assert rich.afford(100)
    assert not conjuncts(ROOT).afford(1)


def test_the_root_follows_what_it_can() -> None:
    at_root = conjuncts(ROOT)
    place = at_root.at_root({"allOf": [{"$ref": "#/$defs/Loop"}, {"$ref": "#"}, {"$ref": "#/$defs/B"}]}, {"/$defs/A"})
    assert place.words == {"title": "loop", "minLength": 1}
    assert place.followed == {"/$defs/Loop", "/$defs/B"}
    assert at_root.at_root({"$ref": "#/$defs/Big", "title": "t"}, set()).words == {"title": "t"}
    assert at_root.at_root(True, set()).words == {}


def test_a_cost_is_counted_once() -> None:
    references = References(SMALL, "t")
    target = references.find("#/$defs/A")
    assert target is not None
    counted = Conjuncts(references)
    assert counted.cost(target) == counted.cost(target) == len('{"type":"string","title":"A"}')
