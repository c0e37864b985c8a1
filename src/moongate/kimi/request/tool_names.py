"""Reversible tool names for hosts that refuse a name (section 10).

A name that the host accepts is sent as it is. Any other is sent as its readable part plus a digest of the whole: the
same tool has the same sent name in every request, whatever else is offered, so that prompt caches stay valid and
nothing has to be stored between requests.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

MOONSHOT_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{2,63}")

MAX_NAME_CHARS: Final = 64
DIGEST_CHARS: Final = 8
_READABLE_CHARS: Final = MAX_NAME_CHARS - DIGEST_CHARS - 1


@dataclass(frozen=True, slots=True)
class ToolNames:
    """The names of one request: from the client's name to the sent one, and back."""

    renamed: Mapping[str, str] = field(default_factory=dict)  # original → sent, only those that differ
    _originals: Mapping[str, str] = field(default_factory=dict)
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by tool: sent → original property

    @classmethod
    def of(cls, offered: Iterable[str], pattern: re.Pattern[str] | None, mentioned: Iterable[str] = ()) -> ToolNames:
        """Names for the function tools `offered` and for those only `mentioned` (history, `tool_choice`).

        `pattern` is what the host accepts as a name, None if it accepts any. Built-in tools (`$web_search`) are names
        of the host: they are not `offered`, and where they are `mentioned` they stay as they are.
        """
        if pattern is None:
            return UNCHANGED
        offered = list(offered)
        refused = [name for name in offered if not pattern.fullmatch(name)]
        refused += [name for name in mentioned if not (name.startswith("$") or pattern.fullmatch(name))]
        if not refused:
            return UNCHANGED
        taken = set(offered)
        renamed: dict[str, str] = {}
        for name in refused:
            if name not in renamed:
                renamed[name] = _free_name(name, taken)
                taken.add(renamed[name])
        return cls(renamed, {sent: name for name, sent in renamed.items()})

    def with_properties(self, properties: Mapping[str, Mapping[str, str]]) -> ToolNames:
        """The same names, and those of properties that are sent under another name, by the tool's original name."""
        return ToolNames(self.renamed, self._originals, properties) if properties else self

    def sent(self, original: str) -> str:
        """The name that is sent to the host."""
        return self.renamed.get(original, original)

    def original(self, sent: str) -> str:
        """The client's name."""
        return self._originals.get(sent, sent)

    def sent_id(self, text: str, prefix: str) -> str:
        """The id `{prefix}.{name}:{index}` with the sent name; any other text as it is."""
        return _with_name(text, prefix, self.renamed)

    def original_id(self, text: str, prefix: str) -> str:
        """The id `{prefix}.{name}:{index}` with the client's name; any other text as it is."""
        return _with_name(text, prefix, self._originals)


UNCHANGED: Final = ToolNames()


def _free_name(name: str, taken: set[str]) -> str:
    """A name that hosts accept. Only a deliberate collision changes it from its first choice."""
    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", name)
    if not readable.strip("_-"):
        readable = "tool"
    elif readable[0] in "-0123456789":
        readable = f"_{readable}"
    data = name.encode("utf-8", "surrogatepass")
    attempt = 0
    while True:
        digest = hashlib.sha256(b"%d:%b" % (attempt, data)).hexdigest()[:DIGEST_CHARS]
        candidate = f"{readable[:_READABLE_CHARS]}_{digest}"
        if candidate not in taken:
            return candidate
        attempt += 1


def _with_name(text: str, prefix: str, names: Mapping[str, str]) -> str:
    head, colon, index = text.rpartition(":")
    start = f"{prefix}."
    if not names or not colon or not head.startswith(start):
        return text
    name = head[len(start) :]
    return f"{start}{names[name]}:{index}" if name in names else text
