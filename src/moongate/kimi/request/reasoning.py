"""The reasoning of assistant messages with calls, as the host expects it (section 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moongate.kimi.notes import Notes
from moongate.payload import JsonObject

BLANK: Final = " "  # Moonshot refuses a thinking model's call without reasoning, and "" counts as none


@dataclass(frozen=True, slots=True)
class ReasoningRule:
    """What the host needs."""

    fill_missing: bool = False  # a blank where there is no reasoning
    both_names: bool = False  # the text under `reasoning_content` and `reasoning`

    def apply(self, message: JsonObject, where: str, notes: Notes) -> JsonObject:
        """The message with its reasoning as the host expects it; the same object if it already is."""
        text = message.get("reasoning_content")
        if text and (not isinstance(text, str) or not self.both_names or message.get("reasoning") == text):
            return message  # a value that is no string is left to the provider
        source = "reasoning_content"
        if not text:
            source, text = _other_reasoning(message)
        if not text:
            if not self.fill_missing:
                return message
            source, text = "reasoning_content", BLANK
        changed = {key: value for key, value in message.items() if key != source}
        changed["reasoning_content"] = text
        if self.both_names:
            changed["reasoning"] = text
        notes.add("reasoning", f"{where}.{source}", message.get(source), text)
        return changed


def _other_reasoning(message: JsonObject) -> tuple[str, str]:
    """The other field that holds reasoning, and its text; ("", "") if there is none."""
    text = message.get("reasoning")
    if text and isinstance(text, str):
        return "reasoning", text
    details = message.get("reasoning_details")
    if isinstance(details, list):
        texts = [part["text"] for part in details if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return "reasoning_details", "".join(texts)
    return "", ""
