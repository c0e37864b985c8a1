from __future__ import annotations

import copy

import pytest

from moongate.errors import BadRequest
from moongate.kimi.schema import normalise_schema
from moongate.kimi.schema_cache import SchemaCache
from moongate.payload import dumps

GOOD = {"type": "object", "properties": {"q": {"type": "string"}}}
LOOSE = {"type": "object", "properties": {"q": {"enum": ["a"], "format": "x"}}}
TIGHT = {"type": "object", "properties": {"q": {"enum": ["a"], "type": "string"}}}


def test_a_hit_says_the_same_and_shares_nothing() -> None:
    cache = SchemaCache()
    results = [cache.normalise(copy.deepcopy(LOOSE), tool=name) for name in ("a", "b", "b")]
    assert results == [TIGHT] * 3
    assert len({id(result["properties"]) for result in results}) == 3
    assert len(cache) == 1


def test_a_good_schema_is_the_same_object_on_a_hit_too() -> None:
    cache = SchemaCache()
    for schema in (copy.deepcopy(GOOD), copy.deepcopy(GOOD)):
        assert cache.normalise(schema) is schema


def test_the_least_recently_used_go_first() -> None:
    cache = SchemaCache(max_entries=2)
    for title in ("one", "two", "one", "six"):
        cache.normalise({"title": title, **LOOSE})
    assert len(cache) == 2
    assert cache.normalise({"title": "one", **LOOSE}) == {"title": "one", **TIGHT}
    assert [b'"one"' in key for key in cache._results] == [False, True]
    assert [b'"six"' in key for key in cache._results] == [True, False]


def test_it_never_holds_more_bytes_than_allowed() -> None:
    small = SchemaCache(max_bytes=10)
    assert small.normalise(LOOSE) == small.normalise(LOOSE) == TIGHT
    assert len(small) == 0
    cache = SchemaCache(max_bytes=400)
    for turn in range(10):
        cache.normalise({"title": f"{turn}" * 20, "type": "object", "format": "x"})
    assert 0 < len(cache) < 5


def test_what_is_no_object_is_judged_as_ever() -> None:
    assert SchemaCache().normalise(None) == normalise_schema(None)


def test_a_refusal_is_not_remembered() -> None:
    cache = SchemaCache()
    remote = {"type": "object", "properties": {"a": {"$ref": "https://x.example/s"}}}
    for tool in ("one", "two"):
        with pytest.raises(BadRequest, match=tool):
            cache.normalise(remote, tool=tool)
    assert len(cache) == 0


def test_very_deep_schemas_are_no_stack_trace() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(990):
        schema = {"items": schema}
    deep = {"type": "object", "properties": {"a": schema}}
    assert dumps(SchemaCache().normalise(deep)) == dumps(normalise_schema(deep))
