"""K2's marker grammar as a table (section 5.2): what a marker does in a state, and which state follows.

    Sure. <|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command": "ls"}
    <|tool_call_end|><|tool_calls_section_end|>

`k2_reader` applies it. A marker that is not in the table is ordinary text.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Final

from moongate.kimi.markers.k2_markers import Marker


class K2State(IntEnum):
    START = 0  # of content: no text yet
    BEFORE = 1  # text before the first section or call
    THINK = 2  # reasoning in content
    AFTER = 3  # text in or after a section, or after a call
    HEADER = 4  # after callBegin
    ARGUMENTS = 5  # after argBegin
    AMBIGUOUS = 6  # after an end marker that may be part of a JSON string


START, BEFORE, THINK, AFTER, HEADER, ARGUMENTS, AMBIGUOUS = K2State  # aliases: looking a member up in its class is slow


class MarkerAction(Enum):
    SHOW = "shown"  # the marker is text
    DROP = "dropped"  # the marker is removed, the text around it is joined
    BREAK = "dropped, a call boundary"
    BEGIN = "begins a header"
    NAME = "ends the header"
    BARE = "ends a header without arguments"
    END = "ends the arguments"


SHOW, DROP, BREAK, BEGIN, NAME, BARE, END = MarkerAction


# For BARE and END the next state is the one after a call; after a block that turns out to be text it is the state
# before the block. A marker that is not callEnd is then read again in that state.
TRANSITIONS: Final[Mapping[tuple[K2State, Marker], tuple[MarkerAction, K2State]]] = {
    (START, Marker.THINK): (DROP, THINK),
    (START, Marker.THINK_END): (DROP, BEFORE),
    (START, Marker.IM_END): (DROP, BEFORE),
    (START, Marker.SECTION_BEGIN): (BREAK, AFTER),
    (START, Marker.SECTION_END): (SHOW, BEFORE),
    (START, Marker.CALL_BEGIN): (BEGIN, HEADER),
    (START, Marker.CALL_END): (SHOW, BEFORE),
    (BEFORE, Marker.THINK): (DROP, BEFORE),
    (BEFORE, Marker.THINK_END): (DROP, BEFORE),
    (BEFORE, Marker.IM_END): (DROP, BEFORE),
    (BEFORE, Marker.SECTION_BEGIN): (BREAK, AFTER),
    (BEFORE, Marker.SECTION_END): (SHOW, BEFORE),
    (BEFORE, Marker.CALL_BEGIN): (BEGIN, HEADER),
    (BEFORE, Marker.CALL_END): (SHOW, BEFORE),
    (THINK, Marker.THINK): (DROP, THINK),
    (THINK, Marker.THINK_END): (DROP, BEFORE),
    (THINK, Marker.IM_END): (DROP, THINK),
    (THINK, Marker.SECTION_BEGIN): (BREAK, AFTER),
    (THINK, Marker.SECTION_END): (SHOW, THINK),
    (THINK, Marker.CALL_BEGIN): (BEGIN, HEADER),
    (THINK, Marker.CALL_END): (SHOW, THINK),
    (AFTER, Marker.THINK): (DROP, AFTER),
    (AFTER, Marker.THINK_END): (DROP, AFTER),
    (AFTER, Marker.IM_END): (DROP, AFTER),
    (AFTER, Marker.SECTION_BEGIN): (BREAK, AFTER),
    (AFTER, Marker.SECTION_END): (BREAK, AFTER),
    (AFTER, Marker.CALL_BEGIN): (BEGIN, HEADER),
    (AFTER, Marker.CALL_END): (BREAK, AFTER),
    (HEADER, Marker.ARG_BEGIN): (NAME, ARGUMENTS),
    (HEADER, Marker.CALL_END): (BARE, AFTER),
    (HEADER, Marker.SECTION_END): (BARE, AFTER),
    (HEADER, Marker.CALL_BEGIN): (BARE, AFTER),
    (HEADER, Marker.SECTION_BEGIN): (BARE, AFTER),
    (ARGUMENTS, Marker.CALL_END): (END, AFTER),
    (ARGUMENTS, Marker.SECTION_END): (END, AFTER),
    (ARGUMENTS, Marker.CALL_BEGIN): (END, AFTER),
    (ARGUMENTS, Marker.SECTION_BEGIN): (END, AFTER),
    (AMBIGUOUS, Marker.CALL_END): (END, AFTER),
    (AMBIGUOUS, Marker.SECTION_END): (END, AFTER),
    (AMBIGUOUS, Marker.CALL_BEGIN): (END, AFTER),
    (AMBIGUOUS, Marker.SECTION_BEGIN): (END, AFTER),
}

# The table as nested tuples, for speed: ROWS[state][marker].
ROWS: Final = tuple(tuple(TRANSITIONS.get((state, marker)) for marker in Marker) for state in K2State)

# Transitions without a marker, for the diagram.
_UNMARKED: Final = (
    (START, BEFORE, "text"),
    (HEADER, BEFORE, "names nothing, too long, or the text ends"),
    (ARGUMENTS, AMBIGUOUS, "an end marker, but the JSON is still open"),
    (AMBIGUOUS, AFTER, "no JSON any more, or too long: back to the first end marker"),
)


def diagram() -> str:
    """The table as a mermaid state diagram."""
    labels: dict[tuple[K2State, K2State], dict[str, list[str]]] = {}
    for (state, marker), (act, following) in TRANSITIONS.items():
        labels.setdefault((state, following), {}).setdefault(act.value, []).append(marker.label)
    lines = ["stateDiagram-v2", "    [*] --> Start: content", "    [*] --> Before: reasoning"]
    for (state, following), acts in labels.items():
        lines += [f"    {_title(state)} --> {_title(following)}: {', '.join(m)} ({act})" for act, m in acts.items()]
    lines += [f"    {_title(state)} --> {_title(following)}: {label}" for state, following, label in _UNMARKED]
    return "\n".join(lines) + "\n"


def _title(state: K2State) -> str:
    return state.name.capitalize()
