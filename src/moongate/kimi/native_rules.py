"""What Kimi needs of requests in another API than chat completions: ids, reasoning, schemas. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from moongate.kimi.generations import ModelFacts
from moongate.kimi.hosts import HostFacts
from moongate.kimi.ids import CallIds
from moongate.kimi.notes import Notes
from moongate.kimi.options import KimiOptions
from moongate.kimi.request.parameters import is_thinking
from moongate.kimi.request.schema_cache import SchemaCache
from moongate.kimi.request.schema_writer import SchemaWriter
from moongate.kimi.schema import Level
from moongate.payload import JsonObject


@dataclass(frozen=True, slots=True)
class NativeRules:
    """Of a model at a host. Applied by the `NativeApi` of each API (`native`)."""

    options: KimiOptions
    model: ModelFacts
    host: HostFacts
    cache: SchemaCache

    def call_ids(self) -> CallIds:
        """The ids of one conversation, none so far."""
        return CallIds(self.options, self.model.family.id_rule)

    @property
    def markers(self) -> tuple[str, ...]:
        """The texts that show that a call was written into the text."""
        return self.model.family.markers(self.options.tool_tokens)

    def fills_reasoning(self, chat: JsonObject) -> bool:
        """Whether a call without reasoning in the history is refused. `chat` is the request in the middle language."""
        wanted = self.options.reasoning_history != "off" and self.host.needs_reasoning
        return wanted and is_thinking(chat, self.model)

    def schema_writer(self, notes: Notes) -> SchemaWriter | None:
        """What brings schemas into the host's form, None: they stay as they are."""
        rules = self.options.schema_rules
        level: Level = "ultra" if rules == "always" else self.host.schema_level
        if rules == "always" or (rules == "auto" and self.host.validates_schemas):
            return SchemaWriter(self.cache, notes, level)
        return None
