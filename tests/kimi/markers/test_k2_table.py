"""The table is complete, and so is its diagram."""

from __future__ import annotations

import itertools

from moongate.kimi.markers.k2_markers import Marker
from moongate.kimi.markers.k2_table import ROWS, TRANSITIONS, K2State, MarkerAction, diagram

OUTSIDE = (K2State.START, K2State.BEFORE, K2State.THINK, K2State.AFTER)
ENDS = (Marker.CALL_END, Marker.SECTION_END, Marker.CALL_BEGIN, Marker.SECTION_BEGIN)


def test_outside_every_marker_but_arg_begin_has_a_transition() -> None:
    for state, marker in itertools.product(OUTSIDE, Marker):
        assert ((state, marker) in TRANSITIONS) == (marker is not Marker.ARG_BEGIN)


def test_whatever_ends_arguments_ends_a_header_too() -> None:
    for marker in ENDS:
        assert TRANSITIONS[K2State.HEADER, marker] == (MarkerAction.BARE, K2State.AFTER)
        assert TRANSITIONS[K2State.ARGUMENTS, marker] == (MarkerAction.END, K2State.AFTER)
        assert TRANSITIONS[K2State.AMBIGUOUS, marker] == (MarkerAction.END, K2State.AFTER)


def test_the_rows_are_the_table() -> None:
    for state, marker in itertools.product(K2State, Marker):
        assert ROWS[state][marker] == TRANSITIONS.get((state, marker))


def test_every_state_can_be_reached() -> None:
    reached = {following for _, following in TRANSITIONS.values()}
    assert reached | {K2State.START, K2State.AMBIGUOUS} == set(K2State)


def test_the_diagram_shows_every_transition() -> None:
    drawn = diagram()
    assert drawn.startswith("stateDiagram-v2\n")
    lines = drawn.splitlines()
    for (state, marker), (act, following) in TRANSITIONS.items():
        edge = f"    {state.name.capitalize()} --> {following.name.capitalize()}: "
        assert any(line.startswith(edge) and marker.label in line and line.endswith(f"({act.value})") for line in lines)
    assert "    Arguments --> Ambiguous: an end marker, but the JSON is still open" in lines
