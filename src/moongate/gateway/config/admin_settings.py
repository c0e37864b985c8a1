"""The settings of the admin listener."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.shapes import Flag, Number, OneOf, TextSetting
from moongate.gateway.config.table import setting
from moongate.payload import JsonObject

OFF: Final = OneOf(("off",))
ADMIN_PORT: Final = 3001


@dataclass(frozen=True, eq=False, repr=False)
class Admin:
    """The listener for operators: keys, teams, usage, metrics. `"off"`, or this object."""

    host: str = setting(TextSetting(), "127.0.0.1", "the address to listen on; any but loopback needs `key`")
    port: int = setting(Number(0, 65_535, integer=True), ADMIN_PORT, "the port to listen on; 0: any free one")
    key: str = setting(
        TextSetting(description="a key: the text itself, $VAR, ${VAR} or file:PATH"),
        "",
        "what operators send as `Authorization: Bearer`, at least 32 characters for other addresses than loopback; "
        "if absent, one is made at first start, in `$MOONGATE_HOME/admin-key`",
    )
    ui: bool = setting(Flag(), True, "the pages for operators at `/ui`")
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)  # None: the file does not mention it


class AdminOff:
    """`"off"` is read as None."""

    __slots__ = ()

    def read(self, value: object, at: ConfigPlace) -> None:
        OFF.read(value, at)

    def schema(self) -> JsonObject:
        return OFF.schema()

    def describe(self) -> str:
        return OFF.describe()
