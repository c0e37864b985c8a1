"""The settings of the state that several gateways share."""

from __future__ import annotations

from dataclasses import dataclass, field

from moongate.gateway.config.places import ConfigPlace
from moongate.gateway.config.shapes import Number, OneOf, TextSetting
from moongate.gateway.config.table import setting


@dataclass(frozen=True, eq=False, repr=False)
class State:
    """Redis or Valkey, in which several gateways share limits: its URL alone, or this object."""

    url: str = setting(
        TextSetting(description="redis://host:6379, rediss://… (TLS), unix:///path, $VAR or file:PATH"),
        "",
        "if absent, every gateway counts for itself",
    )
    on_loss: str = setting(
        OneOf(("degrade", "open", "closed")),
        "degrade",
        "while it is away: every gateway has its part of the limits, none hold, or requests with limits are refused",
    )
    ca_file: str = setting(TextSetting(), "", "certificates to trust instead of the system's, for rediss://")
    node: str = setting(TextSetting(r"[^\s/]{1,64}"), "", "the name of this gateway; if absent, that of the host")
    prefix: str = setting(
        TextSetting(r"[A-Za-z0-9_.:-]{1,64}"), "moongate", "of all names there; gateways that share have the same"
    )
    deadline: float = setting(Number(0.001, 10), 0.02, "seconds that a request waits for it")
    lease: int = setting(
        Number(3, 3600, integer=True), 30, "seconds after which the slots of a gateway that died are free"
    )
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)

    @property
    def values(self) -> tuple[object, ...]:
        return self.url, self.on_loss, self.ca_file, self.node, self.prefix, self.deadline, self.lease
