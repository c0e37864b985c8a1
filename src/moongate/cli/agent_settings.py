"""What `moongate connect` knows of a gateway, and what it sets for an agent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate.kimi.generations import recognise_model
from moongate.payload import JsonObject

CONTEXT_WINDOW: Final = 262_144  # tokens; of most generations since K2-0905
LARGE_WINDOW: Final = 1_048_576
LARGE: Final = frozenset({"k2.8", "k3", "k3.1"})  # the generations that have it
# Models with a smaller window. The first K2 has no date in its name, or the date of July.
_SMALLER: Final = (
    (re.compile(r"moonshot-v1-8k"), 8_192),
    (re.compile(r"moonshot-v1-32k"), 32_768),
    (re.compile(r"moonshot-v1|k2-0711|k2-(instruct|base)$"), 131_072),
    (re.compile(r"-256k$"), CONTEXT_WINDOW),
)


@dataclass(frozen=True, slots=True)
class GatewayAddress:
    """The gateway as an agent sees it, and the model that the agent shall use."""

    root: str  # without /v1
    key: str
    model: str
    window: int = CONTEXT_WINDOW

    @property
    def base(self) -> str:
        return self.root + "/v1"


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What to set for an agent: `values` in its `file` (JSON or TOML), or `shell` variables.

    `beside` are files of moongate's own that the settings name, in the same folder. `notes` are only shown.
    """

    about: str
    file: Path | None = None
    values: JsonObject | None = None
    beside: tuple[tuple[str, JsonObject], ...] = ()
    shell: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    start: str = ""  # the command that starts the agent


def context_window(model: str) -> int:
    """The tokens that a model takes, by its name. A server of your own may be set to less."""
    name = model.lower()
    usual = LARGE_WINDOW if recognise_model(model).generation in LARGE else CONTEXT_WINDOW
    return next((window for pattern, window in _SMALLER if pattern.search(name)), usual)
