from __future__ import annotations

import os
from pathlib import Path

from moongate.gateway.record.shared_counters import SharedCounters


def test_a_single_worker_counts_in_memory() -> None:
    slots = SharedCounters()
    slots.values[slots.slot("a")] += 2
    slots.values[slots.slot("b")] += 1
    slots.values[slots.slot("a")] += 1
    assert slots.totals() == {"a": 3, "b": 1}


def test_several_workers_are_added_up_by_any_of_them(tmp_path: Path) -> None:
    first, second = SharedCounters(tmp_path, 0), SharedCounters(tmp_path, 1)
    first.values[first.slot("a")] += 1
    second.values[second.slot("b")] += 5
    second.values[second.slot("a")] += 10
    second.values[second.slot("b")] -= 2
    assert first.totals() == second.totals() == {"a": 11, "b": 3}


def test_what_another_process_counts_is_seen_at_once(tmp_path: Path) -> None:
    mine = SharedCounters(tmp_path, 0)
    child = os.fork()
    if child == 0:
        theirs = SharedCounters(tmp_path, 1)
        theirs.values[theirs.slot("a")] += 7
        os._exit(0)  # as abrupt as a death: nothing is flushed
    os.waitpid(child, 0)
    assert mine.totals() == {"a": 7}


def test_a_replacement_continues_the_counts(tmp_path: Path) -> None:
    dead = SharedCounters(tmp_path, 0)
    dead.values[dead.slot("a")] += 1
    dead.values[dead.slot("b")] += 1
    successor = SharedCounters(tmp_path, 0)
    successor.values[successor.slot("b")] += 1
    successor.values[successor.slot("c")] += 1
    assert successor.totals() == {"a": 1, "b": 2, "c": 1}


def test_the_number_of_slots_is_limited() -> None:
    slots = SharedCounters(max_slots=3)
    for name in "abcd":
        slots.values[slots.slot(name)] += 1
    assert slots.totals() == {"a": 1, "b": 1}
