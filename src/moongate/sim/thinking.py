"""Whether the simulated model thinks, with which effort, and what it thinks."""

from __future__ import annotations

from typing import Final

from moongate.payload import JsonObject
from moongate.sim.behaviours import Behaviour

EFFORTS: Final = ("low", "high", "max")
DEFAULT_EFFORT: Final = "max"
EFFORT_GENERATIONS: Final = ("k2.8", "k3", "k3.1")
SWITCHABLE: Final = ("k2.5", "k2.6", "k3")  # thinking can be disabled

_STEP: Final = "The user wants the tools used; step {n}."
# What more effort adds: low < high < max. Only generations with efforts have it.
_MORE: Final = {
    "low": "",
    "high": " I look at what is known, then at what is missing. The next call follows from that.",
    "max": (
        " I look at what is known, then at what is missing. The next call follows from that."
        " Before I go on, I check the names and the arguments once more. Another way would be longer, and not better."
        " So this is what I do."
    ),
}


def thinks(request: JsonObject, behaviour: Behaviour) -> bool:
    """Whether this request is answered with reasoning."""
    if not behaviour.thinks:
        return False
    disabled = object_at(request, "thinking").get("type") == "disabled"
    if behaviour.host != "moonshot":
        disabled = disabled or object_at(request, "chat_template_kwargs").get("thinking") is False
    return not (disabled and behaviour.generation in SWITCHABLE)


def effort_of(request: JsonObject) -> str:
    """The effort in force: `thinking.effort` wins over `reasoning_effort`, that over the chat template's."""
    asked = (
        object_at(request, "thinking").get("effort"),
        request.get("reasoning_effort"),
        object_at(request, "chat_template_kwargs").get("thinking_effort"),
    )
    return next((each for each in asked if isinstance(each, str) and each in EFFORTS), DEFAULT_EFFORT)


def reasoning_for(request: JsonObject, behaviour: Behaviour, step: int) -> str:
    """The reasoning of the answer with this number, counted from 0; "" if the model does not think."""
    if not thinks(request, behaviour):
        return ""
    more = _MORE[effort_of(request)] if behaviour.generation in EFFORT_GENERATIONS else ""
    return _STEP.replace("{n}", str(step + 1)) + more


def object_at(request: JsonObject, field: str) -> JsonObject:
    """The object in this field; an empty one if there is none."""
    found = request.get(field)
    return found if isinstance(found, dict) else {}
