"""K2's marker grammar as a table (section 5.2): what a marker does in a state, and which state follows.

    Sure. <|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command": "ls"}
    <|tool_call_end|><|tool_calls_section_end|>

`k2` walks it. What is not in the table is ordinary text.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Final

from moongate.kimi.markers import Marker


class State(IntEnum):
    START = 0  # of content: nothing came yet
    BEFORE = 1  # text before the first section or call
    THINK = 2  # reasoning in content
    AFTER = 3  # text in or behind a section, or behind a call
    HEADER = 4  # behind callBegin
    ARGUMENTS = 5  # behind argBegin
    DOUBT = 6  # behind an end marker that may stand inside a JSON string


class Act(Enum):
    SHOW = "shown"  # the marker is text
    DROP = "dropped"  # the marker leaves nothing, the text around it is one stretch
    BREAK = "dropped, ends a stretch"
    BEGIN = "begins a header"
    NAME = "ends the header"
    BARE = "ends a header without arguments"
    END = "ends the arguments"


# For BARE and END the state is the one behind a call; behind a block that turns out to be text it is the one before
# the block. Then a marker that is not callEnd is read again there.
TRANSITIONS: Final[Mapping[tuple[State, Marker], tuple[Act, State]]] = {
    (State.START, Marker.THINK): (Act.DROP, State.THINK),
    (State.START, Marker.THINK_END): (Act.DROP, State.BEFORE),
    (State.START, Marker.TURN_END): (Act.DROP, State.BEFORE),
    (State.START, Marker.SECTION_BEGIN): (Act.BREAK, State.AFTER),
    (State.START, Marker.SECTION_END): (Act.SHOW, State.BEFORE),
    (State.START, Marker.CALL_BEGIN): (Act.BEGIN, State.HEADER),
    (State.START, Marker.CALL_END): (Act.SHOW, State.BEFORE),
    (State.BEFORE, Marker.THINK): (Act.DROP, State.BEFORE),
    (State.BEFORE, Marker.THINK_END): (Act.DROP, State.BEFORE),
    (State.BEFORE, Marker.TURN_END): (Act.DROP, State.BEFORE),
    (State.BEFORE, Marker.SECTION_BEGIN): (Act.BREAK, State.AFTER),
    (State.BEFORE, Marker.SECTION_END): (Act.SHOW, State.BEFORE),
    (State.BEFORE, Marker.CALL_BEGIN): (Act.BEGIN, State.HEADER),
    (State.BEFORE, Marker.CALL_END): (Act.SHOW, State.BEFORE),
    (State.THINK, Marker.THINK): (Act.DROP, State.THINK),
    (State.THINK, Marker.THINK_END): (Act.DROP, State.BEFORE),
    (State.THINK, Marker.TURN_END): (Act.DROP, State.THINK),
    (State.THINK, Marker.SECTION_BEGIN): (Act.BREAK, State.AFTER),
    (State.THINK, Marker.SECTION_END): (Act.SHOW, State.THINK),
    (State.THINK, Marker.CALL_BEGIN): (Act.BEGIN, State.HEADER),
    (State.THINK, Marker.CALL_END): (Act.SHOW, State.THINK),
    (State.AFTER, Marker.THINK): (Act.DROP, State.AFTER),
    (State.AFTER, Marker.THINK_END): (Act.DROP, State.AFTER),
    (State.AFTER, Marker.TURN_END): (Act.DROP, State.AFTER),
    (State.AFTER, Marker.SECTION_BEGIN): (Act.BREAK, State.AFTER),
    (State.AFTER, Marker.SECTION_END): (Act.BREAK, State.AFTER),
    (State.AFTER, Marker.CALL_BEGIN): (Act.BEGIN, State.HEADER),
    (State.AFTER, Marker.CALL_END): (Act.BREAK, State.AFTER),
    (State.HEADER, Marker.ARG_BEGIN): (Act.NAME, State.ARGUMENTS),
    (State.HEADER, Marker.CALL_END): (Act.BARE, State.AFTER),
    (State.HEADER, Marker.SECTION_END): (Act.BARE, State.AFTER),
    (State.HEADER, Marker.CALL_BEGIN): (Act.BARE, State.AFTER),
    (State.HEADER, Marker.SECTION_BEGIN): (Act.BARE, State.AFTER),
    (State.ARGUMENTS, Marker.CALL_END): (Act.END, State.AFTER),
    (State.ARGUMENTS, Marker.SECTION_END): (Act.END, State.AFTER),
    (State.ARGUMENTS, Marker.CALL_BEGIN): (Act.END, State.AFTER),
    (State.ARGUMENTS, Marker.SECTION_BEGIN): (Act.END, State.AFTER),
    (State.DOUBT, Marker.CALL_END): (Act.END, State.AFTER),
    (State.DOUBT, Marker.SECTION_END): (Act.END, State.AFTER),
    (State.DOUBT, Marker.CALL_BEGIN): (Act.END, State.AFTER),
    (State.DOUBT, Marker.SECTION_BEGIN): (Act.END, State.AFTER),
}

# The same by position, for speed: ROWS[state][marker].
ROWS: Final = tuple(tuple(TRANSITIONS.get((state, marker)) for marker in Marker) for state in State)

# Edges that no marker makes.
_UNMARKED: Final = (
    (State.START, State.BEFORE, "text"),
    (State.HEADER, State.BEFORE, "names nothing, too long, or the text ends"),
    (State.ARGUMENTS, State.DOUBT, "an end marker, but the JSON is still open"),
    (State.DOUBT, State.AFTER, "no JSON any more, or too long: back to the first end marker"),
)


def diagram() -> str:
    """The table as a mermaid state diagram."""
    labels: dict[tuple[State, State], dict[str, list[str]]] = {}
    for (state, marker), (act, following) in TRANSITIONS.items():
        labels.setdefault((state, following), {}).setdefault(act.value, []).append(marker.label)
    lines = ["stateDiagram-v2", "    [*] --> Start: content", "    [*] --> Before: reasoning"]
    for (state, following), acts in labels.items():
        lines += [f"    {_title(state)} --> {_title(following)}: {', '.join(m)} ({act})" for act, m in acts.items()]
    lines += [f"    {_title(state)} --> {_title(following)}: {label}" for state, following, label in _UNMARKED]
    return "\n".join(lines) + "\n"


def _title(state: State) -> str:
    return state.name.capitalize()
