from __future__ import annotations

import copy
import sys
import threading

import pytest

from moongate.errors import BadRequest
from moongate.kimi.request.schema_cache import SUM_EVERY, SchemaCache
from moongate.kimi.schema import StepBudget, normalise_schema, normalised
from moongate.payload import dumps

GOOD = {"type": "object", "properties": {"q": {"type": "string"}}}
LOOSE = {"type": "object", "properties": {"q": {"enum": ["a"], "format": "x"}}}
TIGHT = {"type": "object", "properties": {"q": {"enum": ["a"], "type": "string"}}}


def test_a_hit_is_equal_and_shares_nothing() -> None:
    cache = SchemaCache()
    results = [cache.normalise(copy.deepcopy(LOOSE), tool=name).schema for name in ("a", "b", "b")]
    assert results == [TIGHT] * 3
    assert len({id(result["properties"]) for result in results}) == 3
    assert len(cache) == 1


def test_a_valid_schema_is_the_same_object_on_a_hit_too() -> None:
    cache = SchemaCache()
    for schema in (copy.deepcopy(GOOD), copy.deepcopy(GOOD)):
        assert cache.normalise(schema).schema is schema


def test_the_least_recently_used_are_evicted_first() -> None:
    cache = SchemaCache(max_entries=2)
    for title in ("one", "two", "one", "six"):
        cache.normalise({"title": title, **LOOSE})
    assert len(cache) == 2
    assert cache.normalise({"title": "one", **LOOSE}).schema == {"title": "one", **TIGHT}
    assert [b'"one"' in key for key in cache._results] == [False, True]
    assert [b'"six"' in key for key in cache._results] == [True, False]


def test_it_never_holds_more_bytes_than_allowed() -> None:
    small = SchemaCache(max_bytes=10)
    assert small.normalise(LOOSE).schema == small.normalise(LOOSE).schema == TIGHT
    assert len(small) == 0
    cache = SchemaCache(max_bytes=400)
    for turn in range(10):
        cache.normalise({"title": f"{turn}" * 20, "type": "object", "format": "x"})
    assert 0 < len(cache) < 5


def test_a_schema_that_is_no_object_is_not_cached() -> None:
    assert SchemaCache().normalise(None).schema == normalise_schema(None)


def test_a_refusal_is_not_cached() -> None:
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
    assert dumps(SchemaCache().normalise(deep).schema) == dumps(normalise_schema(deep))


def test_each_level_has_its_own_entries() -> None:
    cache = SchemaCache()
    schema = {"type": "object", "$schema": "s"}
    for _ in range(2):
        assert cache.normalise(schema, level="strict").schema is schema
        assert cache.normalise(schema, level="ultra").schema == {"type": "object"}
    assert len(cache) == 2


def test_a_hit_knows_the_changed_names_of_properties() -> None:
    cache = SchemaCache()
    schema = {"type": "object", "properties": {"required": {"type": "string"}}}
    first, second = cache.normalise(schema), cache.normalise(schema)
    assert first == second
    assert list(second.names.values()) == ["required"]


def test_a_hit_costs_no_steps() -> None:
    cache = SchemaCache()
    cache.normalise(LOOSE)
    assert cache.normalise(LOOSE, steps=StepBudget(0)).schema == TIGHT


def test_what_was_made_with_few_steps_is_not_kept() -> None:
    cache = SchemaCache()
    cache.normalise(LOOSE, steps=StepBudget(5000))
    assert len(cache) == 0
    cache.normalise(GOOD, steps=StepBudget(5000))
    assert len(cache) == 1


def test_threads_may_share_it() -> None:
    """No error, the right results, and its limits hold afterwards."""
    cache = SchemaCache(max_entries=8, max_bytes=4000)
    schemas = [{"type": "object", "properties": {f"p{n}": {"type": ["string", "null"]}}} for n in range(24)]
    expected = [normalised(schema).schema for schema in schemas]
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for turn in range(400):
                index = (turn * (seed + 3)) % len(schemas)
                assert cache.normalise(schemas[index]).schema == expected[index]
        except BaseException as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert errors == []
    assert 0 < len(cache) <= 8
    again = cache.normalise(schemas[0])  # it still keeps what it is given
    assert cache.normalise(schemas[0]).schema == again.schema
    assert len(cache) >= 1


def test_the_size_is_counted_and_now_and_then_summed_up() -> None:
    cache = SchemaCache(max_bytes=10_000)
    for turn in range(SUM_EVERY - 1):
        cache.normalise({"title": f"{turn}", "type": "object"})
    assert cache._size == sum(entry[2] for entry in cache._results.values()) <= 10_000
    cache._size -= 5000  # as if updates were lost
    cache.normalise({"title": "last", "type": "object"})
    assert cache._size == sum(entry[2] for entry in cache._results.values()) <= 10_000
