"""The table is complete, and so is its diagram."""

from __future__ import annotations

import itertools

from moongate.kimi.k2_table import ROWS, TRANSITIONS, Act, State, diagram
from moongate.kimi.markers import Marker

OUTSIDE = (State.START, State.BEFORE, State.THINK, State.AFTER)
ENDS = (Marker.CALL_END, Marker.SECTION_END, Marker.CALL_BEGIN, Marker.SECTION_BEGIN)


def test_outside_every_marker_but_arg_begin_means_something() -> None:
    for state, marker in itertools.product(OUTSIDE, Marker):
        assert ((state, marker) in TRANSITIONS) == (marker is not Marker.ARG_BEGIN)


def test_whatever_ends_arguments_ends_a_header_too() -> None:
    for marker in ENDS:
        assert TRANSITIONS[State.HEADER, marker] == (Act.BARE, State.AFTER)
        assert TRANSITIONS[State.ARGUMENTS, marker] == (Act.END, State.AFTER)
        assert TRANSITIONS[State.DOUBT, marker] == (Act.END, State.AFTER)


def test_the_rows_are_the_table() -> None:
    for state, marker in itertools.product(State, Marker):
        assert ROWS[state][marker] == TRANSITIONS.get((state, marker))


def test_every_state_can_be_reached() -> None:
    reached = {following for _, following in TRANSITIONS.values()}
    assert reached | {State.START, State.DOUBT} == set(State)


def test_the_diagram_shows_every_transition() -> None:
    drawn = diagram()
    assert drawn.startswith("stateDiagram-v2\n")
    lines = drawn.splitlines()
    for (state, marker), (act, following) in TRANSITIONS.items():
        edge = f"    {state.name.capitalize()} --> {following.name.capitalize()}: "
        assert any(line.startswith(edge) and marker.label in line and line.endswith(f"({act.value})") for line in lines)
    assert "    Arguments --> Doubt: an end marker, but the JSON is still open" in lines
