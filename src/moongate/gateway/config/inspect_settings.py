"""The settings of captured requests."""

from __future__ import annotations

from dataclasses import dataclass, field

from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.shapes import Flag, Number, TextSetting
from moongate.gateway.config.table import setting


@dataclass(frozen=True, eq=False, repr=False)
class Inspect:
    """Which requests and answers are captured, bodies included, for the pages at `/ui`: `true`, or this object."""

    all: bool = setting(Flag(), False, "every request; if false, those of keys with `inspect`, or as the pages ask for")
    memory: int = setting(Number(1 << 20, 1 << 34, integer=True), 64 << 20, "bytes that captures take; the oldest go")
    folder: str = setting(TextSetting(), "", "keep captures on disk instead of in memory, in this folder; needs `days`")
    days: float = setting(Number(0, 3650), 0.0, "how long they are kept in `folder`")
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)
