"""Names of properties in the arguments of calls, turned back to those that the client knows (section 10).

A property whose name Moonshot reserves is sent under another name, which does not occur in the schema that came. In
the arguments that name in quotes is replaced, as text: what is broken stays as it is, and pieces of a stream need not
be parsed. Only characters that may be the beginning of such a name are held back. The same holds for the content of an
answer that has to fit a schema (`response_format`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from moongate.chat.progress import choice_index
from moongate.kimi.request.schema_writer import RESPONSE_FORMAT
from moongate.kimi.schema.property_names import MAX_SENT_CHARS, SENT_NAME
from moongate.payload import JsonObject, dumps_text

TextKey = tuple[int, int]  # the index of a choice, and that of a call in it or `CONTENT`
CONTENT: Final = -1
_OTHER_FIELDS: Final = ("reasoning_content", "reasoning", "tool_calls")


class _Names:
    """The names of one tool."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._originals = {f'"{sent}"': dumps_text(original) for sent, original in names.items()}
        self._sorted = sorted(self._originals)

    def restored(self, text: str) -> str:
        return SENT_NAME.sub(lambda found: self._originals.get(found[0], found[0]), text)

    def split(self, text: str) -> tuple[str, str]:
        """What can be restored now, and the end that may grow into a name."""
        end = 0
        for found in SENT_NAME.finditer(text):
            end = found.end()
        start = text.find('"', max(end, len(text) - MAX_SENT_CHARS - 1))
        while start >= 0:
            tail = text[start:]
            at = bisect_left(self._sorted, tail)
            if at < len(self._sorted) and self._sorted[at].startswith(tail):
                return text[:start], tail
            start = text.find('"', start + 1)
        return text, ""


class ArgumentNames:
    """The texts of one answer. `properties`: by tool, the sent name of a property → the original one; those of the
    schema that the answer itself has to fit are there, too."""

    def __init__(self, properties: Mapping[str, Mapping[str, str]]) -> None:
        self._tools = {tool: _Names(names) for tool, names in properties.items()}
        self._content = self._tools.get(RESPONSE_FORMAT)
        self._streamed: dict[TextKey, _Names | None] = {}
        self._held: dict[TextKey, str] = {}

    def message(self, message: object) -> object:
        """A whole message; the same object if nothing changed."""
        message = _with_calls(message, lambda call: _with_arguments(call, self._whole(call)))
        return message if self._content is None else _with_content(message, self._content.restored)

    def delta(self, choice: int, delta: object, *, last: bool) -> object:
        """A piece of a message; the same object if nothing changed. Of the `last` one nothing is held back."""
        delta = _with_calls(delta, lambda call: _with_arguments(call, self._piece(choice, call, last)))
        names = self._content
        return _with_content(delta, lambda text: self._joined((choice, CONTENT), names, text, last)) if names else delta

    def content_before(self, choice: int, delta: object) -> list[tuple[int, JsonObject]]:
        """What was held back of the content, if the answer goes on with something else."""
        goes_on = isinstance(delta, dict) and not delta.get("content") and any(map(delta.get, _OTHER_FIELDS))
        text = self._held.pop((choice, CONTENT), "") if goes_on else ""
        return [(choice, _delta(CONTENT, text))] if text else []

    def rest(self, choice: int | None = None) -> list[tuple[int, JsonObject]]:
        """What was held back of texts that are over (all, or those of one choice), as deltas of their choices."""
        texts = {key: text for key, text in self._held.items() if choice in (None, key[0])}
        self._held = {key: text for key, text in self._held.items() if key not in texts}
        return [(choice, _delta(index, text)) for (choice, index), text in texts.items()]

    def _whole(self, call: JsonObject) -> str | None:
        function = call["function"]
        names, text = self._tools.get(str(function.get("name"))), function.get("arguments")
        return names.restored(text) if names is not None and isinstance(text, str) else None

    def _piece(self, choice: int, call: JsonObject, last: bool) -> str | None:
        function = call["function"]
        key = (choice, choice_index(call, 0))
        if function.get("name"):
            self._streamed[key] = self._tools.get(str(function["name"]))
        names, text = self._streamed.get(key), function.get("arguments")
        if names is None or not isinstance(text, str):
            return None
        return self._joined(key, names, text, last)

    def _joined(self, key: TextKey, names: _Names, text: str, last: bool) -> str:
        """A piece behind what was held back before it, without what is held back now."""
        text = self._held.pop(key, "") + text
        ready, held = (text, "") if last else names.split(text)
        if held:
            self._held[key] = held
        return names.restored(ready)


def _with_calls(message: object, restore: Callable[[JsonObject], JsonObject]) -> object:
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(calls, list):
        return message
    news = [restore(call) if _is_call(call) else call for call in calls]
    return message if _same(news, calls) else {**message, "tool_calls": news}


def _with_content(message: object, restore: Callable[[str], str]) -> object:
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(text, str):
        return message
    new = restore(text)
    return message if new == text else {**message, "content": new}


def _delta(index: int, text: str) -> JsonObject:
    if index == CONTENT:
        return {"content": text}
    return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}


def _is_call(call: object) -> bool:
    return isinstance(call, dict) and isinstance(call.get("function"), dict)


def _same(news: Sequence[object], olds: Sequence[object]) -> bool:
    return all(new is old for new, old in zip(news, olds, strict=True))


def _with_arguments(call: JsonObject, text: str | None) -> JsonObject:
    if text is None or text == call["function"]["arguments"]:
        return call
    return {**call, "function": {**call["function"], "arguments": text}}
