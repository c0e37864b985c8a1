"""The settings of the store."""

from __future__ import annotations

from dataclasses import dataclass, field

from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.shapes import Flag, Number, TextSetting
from moongate.gateway.config.table import setting


@dataclass(frozen=True, eq=False, repr=False)
class Store:
    """Where keys, teams and usage are kept: its place alone, or this object."""

    place: str = setting(
        TextSetting(description='"off", the path of an SQLite file, postgresql://…, $VAR or file:PATH'),
        "",
        "if absent: `moongate.db` in `$MOONGATE_HOME`",
    )
    strict: bool = setting(Flag(), False, "serve nothing that cannot be recorded; if false, a warning")
    retention: int = setting(
        Number(0, 36_500, integer=True), 0, "days that single requests are kept (sums by day stay); 0: for ever"
    )
    journal: int = setting(
        Number(1 << 21, 1 << 40, integer=True), 256 << 20, "bytes on disk that may wait while the database is away"
    )
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)
