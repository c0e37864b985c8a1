"""`tooluse`: a model that prefers to talk is made to call tools, and gets a tool for ending its turn with words."""

from __future__ import annotations

from dataclasses import dataclass
from operator import is_
from typing import Any, Final

from moongate.chat.base import BaseExchange
from moongate.chat.call_grouping import CallGrouping, CallSlot, arguments_text, call_index, function_of
from moongate.chat.contracts import Exchange
from moongate.payload import JsonObject
from moongate.transformers.choices import ChoiceEditingExchange
from moongate.transformers.exit_text import MEMBER, ExitText
from moongate.transformers.options import Configured, is_text, option
from moongate.transformers.system_prompt import with_instruction

EXIT_TOOL: Final = "ExitTool"
REMINDER: Final = (
    "You work by calling tools: in every turn call the tool that brings the task forward. When the task is done, or "
    f"no tool can help, call {EXIT_TOOL} with your answer to the user. Never call it while work is left."
)
_TOOL: Final[JsonObject] = {
    "type": "function",
    "function": {
        "name": EXIT_TOOL,
        "description": "Ends the turn with an answer to the user. To be called when no other tool is needed any more.",
        "parameters": {
            "type": "object",
            "properties": {MEMBER: {"type": "string", "description": "The answer, as the user will read it."}},
            "required": [MEMBER],
        },
    },
}


@dataclass(frozen=True, slots=True)
class ToolUseTransformer(Configured):
    """Where the client lets the model choose, a call is required, and one that only talks becomes text again."""

    reminder: str = option(REMINDER, is_text, "the instruction that the model gets; empty: none")

    def begin(self, request: JsonObject) -> Exchange:
        tools = request.get("tools")
        free = request.get("tool_choice") in (None, "auto")
        if not free or not isinstance(tools, list) or not tools or EXIT_TOOL in map(_name, tools):
            return BaseExchange(request)
        reminded = with_instruction(request, self.reminder)
        return ChoiceEditingExchange({**reminded, "tools": [*tools, _TOOL], "tool_choice": "required"}, ExitCalls)


def _name(tool: Any) -> Any:
    return function_of(tool).get("name") if isinstance(tool, dict) else None


class _CallState:
    """What is known of one call besides its slot, which may be machine code and so has no subclasses here."""

    __slots__ = ("exit_text", "place", "unnamed")

    def __init__(self) -> None:
        self.unnamed: list[JsonObject] | None = []  # its deltas before the name is known
        self.exit_text: ExitText | None = None  # of a call of the exit tool
        self.place = 0  # among the calls that leave


class ExitCalls:
    """The calls of one choice; those of the exit tool are text."""

    __slots__ = ("_calls", "_exits", "_grouping", "_leaving", "_said", "_speaking")

    def __init__(self) -> None:
        self._grouping: CallGrouping[CallSlot] = CallGrouping(CallSlot)
        self._calls: dict[CallSlot, _CallState] = {}
        self._exits: list[ExitText] = []
        self._leaving = 0  # calls that go to the client
        self._said = False  # the choice has text
        self._speaking: ExitText | None = None  # whose text came last

    def feed(self, delta: JsonObject, finish_reason: object) -> tuple[JsonObject, object]:
        if delta.get("content"):
            self._said, self._speaking = True, None
        calls = delta.get("tool_calls")
        if isinstance(calls, list):
            delta = self._without_exits(delta, calls)
        if finish_reason:
            delta = _with(delta, self.close())
            if finish_reason == "tool_calls" and self._exits and not self._leaving:
                finish_reason = "stop"
        return delta, finish_reason

    def close(self) -> JsonObject:
        rest: JsonObject = {}
        if text := "".join(self._shown(each, each.close()) for each in self._exits):
            rest["content"] = text
        nameless = [call for call in self._calls.values() if call.unnamed]
        if nameless:
            rest["tool_calls"] = [entry for call in nameless for entry in call.unnamed or ()]
            self._leaving += len(nameless)
        for call in nameless:
            call.unnamed = None
        return rest

    def _without_exits(self, delta: JsonObject, calls: list[Any]) -> JsonObject:
        """The delta without what belongs to the exit tool, with its text instead."""
        left: list[Any] = []
        text = ""
        for entry in calls:
            if isinstance(entry, dict):
                entries, words = self._entry(entry)
                left += entries
                text += words
            else:
                left.append(entry)
        if not text and len(left) == len(calls) and all(map(is_, left, calls)):
            return delta
        rest = {name: value for name, value in delta.items() if name != "tool_calls"}
        return _with({**rest, "tool_calls": left} if left else rest, {"content": text} if text else {})

    def _entry(self, entry: JsonObject) -> tuple[list[JsonObject], str]:
        """The deltas that leave for this one, and the text."""
        slot = self._grouping.route(entry)
        call = self._calls.setdefault(slot, _CallState())
        if call.exit_text is not None:
            return [], self._words(call.exit_text, arguments_text(function_of(entry).get("arguments")))
        if call.unnamed is None:
            return [self._numbered(entry, call)], ""
        call.unnamed.append(entry)
        if not slot.name:
            return [], ""
        waiting, call.unnamed = call.unnamed, None
        if slot.name == EXIT_TOOL:
            call.exit_text = ExitText()
            self._exits.append(call.exit_text)
            return [], self._words(call.exit_text, slot.arguments)
        call.place = self._leaving
        self._leaving += 1
        return [self._numbered(each, call) for each in waiting], ""

    def _numbered(self, entry: JsonObject, call: _CallState) -> JsonObject:
        """Indexes count the calls that leave. Before the first exit call they stay as they came."""
        index = call_index(entry)
        return entry if index is None or not self._exits or index == call.place else {**entry, "index": call.place}

    def _words(self, exit_text: ExitText, arguments: str) -> str:
        return self._shown(exit_text, exit_text.feed(arguments))

    def _shown(self, exit_text: ExitText, text: str) -> str:
        """Text of an exit call. It stands apart from text in front of the call."""
        if not text:
            return ""
        apart = self._said and self._speaking is not exit_text
        self._said, self._speaking = True, exit_text
        return "\n\n" + text if apart else text


def _with(delta: JsonObject, more: JsonObject) -> JsonObject:
    """The delta with the text and calls of `more` behind its own."""
    added = {name: delta[name] + value if delta.get(name) else value for name, value in more.items()}
    return {**delta, **added} if added else delta
