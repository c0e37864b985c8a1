"""Reasoning that an assistant message with calls brings back (section 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moongate.kimi.notes import Notes
from moongate.payload import JsonObject

BLANK: Final = " "  # Moonshot refuses a thinking model's call without reasoning, and takes "" for none


@dataclass(frozen=True, slots=True)
class ReasoningRule:
    """What the host needs: `blank` where there is no reasoning, the text under `both` names."""

    blank: bool = False
    both: bool = False

    def mend(self, message: JsonObject, where: str, notes: Notes) -> JsonObject:
        """The message with its reasoning under the host's name; the same object if it is so already."""
        kept = message.get("reasoning_content")
        if kept and (not isinstance(kept, str) or not self.both or message.get("reasoning") == kept):
            return message  # of a value that is no text the provider may judge
        source, text = ("reasoning_content", kept) if kept else _other_reasoning(message)
        if not text:
            if not self.blank:
                return message
            source, text = "reasoning_content", BLANK
        mended = {key: value for key, value in message.items() if key != source}
        mended["reasoning_content"] = text
        if self.both:
            mended["reasoning"] = text
        notes.add("reasoning", f"{where}.{source}", message.get(source), text)
        return mended


def _other_reasoning(message: JsonObject) -> tuple[str, str]:
    """Where else reasoning may stand, and its text; ("", "") if nowhere."""
    text = message.get("reasoning")
    if text and isinstance(text, str):
        return "reasoning", text
    details = message.get("reasoning_details")
    if isinstance(details, list):
        texts = [part["text"] for part in details if isinstance(part, dict) and isinstance(part.get("text"), str)]
        return "reasoning_details", "".join(texts)
    return "", ""
