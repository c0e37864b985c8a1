"""Names of properties that Moonshot reserves, sent under another name and turned back in the arguments of calls.

As with tool names, the sent name is what is readable of the name plus a digest of it: the same in every request, so
that prompt caches keep working and nothing has to be remembered.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from moongate.kimi.schema.keywords import RESERVED_PROPERTIES
from moongate.kimi.schema.lookups import any_looked_up, has_braces
from moongate.kimi.schema.step_budget import StepBudget
from moongate.payload import JsonObject

MAX_READABLE_CHARS: Final = 48
DIGEST_CHARS: Final = 8
MAX_SENT_CHARS: Final = MAX_READABLE_CHARS + 1 + DIGEST_CHARS
SENT_NAME: Final = re.compile(rf'"[A-Za-z0-9_-]{{1,{MAX_READABLE_CHARS}}}_[0-9a-f]{{{DIGEST_CHARS}}}"')  # in JSON


class PropertyNames:
    """The renamed properties of one schema. `text` is the schema as JSON: no sent name occurs in it."""

    __slots__ = ("_sent", "_steps", "_text")

    def __init__(self, text: bytes, steps: StepBudget) -> None:
        self._text = text
        self._steps = steps
        self._sent: dict[str, str] = {}

    @property
    def originals(self) -> Mapping[str, str]:
        """What each sent name stands for."""
        return {sent: name for name, sent in self._sent.items()}

    def sent(self, name: str, schema: JsonObject, *, in_definition: bool) -> str:
        """The name that Moonshot takes for this property. In definitions it takes no slash."""
        refused = not name or name in RESERVED_PROPERTIES or (in_definition and "/" in name)
        if not (refused or (has_braces(name) and any_looked_up(schema, self._steps))):
            return name
        if name not in self._sent:
            self._sent[name] = self._free_name(name)
        return self._sent[name]

    def _free_name(self, name: str) -> str:
        readable = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:MAX_READABLE_CHARS] or "property"
        data = name.encode("utf-8", "surrogatepass")
        attempt = 0
        while True:
            self._steps.take(2 + len(self._text) // 1024)
            digest = hashlib.sha256(b"%d:%b" % (attempt, data)).hexdigest()[:DIGEST_CHARS]
            candidate = f"{readable}_{digest}"
            if candidate.encode() not in self._text:
                return candidate
            attempt += 1
