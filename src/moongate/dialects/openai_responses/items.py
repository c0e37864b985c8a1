"""The input items of a Responses request → chat messages.

Consecutive items of the assistant (reasoning, text and calls, in whatever order the client sends them) become one chat
message, so that the results follow their calls.
"""

from __future__ import annotations

from typing import Final

from moongate.chat.contracts import Note
from moongate.dialects.openai_responses.client_tools import Kind, call_arguments, patch_result
from moongate.dialects.openai_responses.content import chat_content
from moongate.dialects.openai_responses.declared_tools import tool_names
from moongate.dialects.openai_responses.reasoning import reasoning_text
from moongate.dialects.openai_responses.tools import Toolbox
from moongate.errors import BadRequest
from moongate.payload import JsonObject, dumps_text
from moongate.wire.threads import EVERY, let_threads_run

_ROLES: Final = {"user": "user", "system": "system", "developer": "system"}
_OUTPUTS: Final = frozenset(
    {
        *("function_call_output", "custom_tool_call_output", "local_shell_call_output", "shell_call_output"),
        *("apply_patch_call_output", "tool_search_output"),
    }
)
_CALLS: Final[dict[str, Kind]] = {
    "function_call": "function",
    "custom_tool_call": "custom",
    "local_shell_call": "local_shell",
    "shell_call": "shell",
    "apply_patch_call": "apply_patch",
    "tool_search_call": "tool_search",
}
_READ: Final = frozenset({"message", "reasoning", "additional_tools", *_OUTPUTS, *_CALLS})  # tools.py offers the tools


def chat_messages(body: JsonObject, box: Toolbox) -> list[JsonObject]:
    """`instructions` and `input` as chat messages. Raises BadRequest with the path of the invalid field."""
    conversation = _ItemConverter(box)
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        conversation.add("system", instructions)
    elif instructions is not None:
        _read_all(instructions, "instructions", conversation)
    given = body.get("input")
    if isinstance(given, str):
        conversation.add("user", given)
    elif given is not None:
        _read_all(given, "input", conversation)
    if not (messages := conversation.messages()):
        raise BadRequest("must hold at least one message", path="input")
    return messages


def left_out_items(body: JsonObject) -> list[Note]:
    """One note per item of a (valid) request that has no counterpart in chat."""
    items = body.get("input")
    return [
        Note("parameter", f"input[{index}]", before=kind)
        for index, item in enumerate(items if isinstance(items, list) else ())
        if (kind := _kind_of(item)) not in _READ
    ]


def _kind_of(item: JsonObject) -> str:
    kind = item.get("type")
    if kind and isinstance(kind, str):
        return kind
    return "message" if "role" in item else "item_reference"


def _read_all(items: object, path: str, conversation: _ItemConverter) -> None:
    if not isinstance(items, list):
        raise BadRequest("must be a string or a list of items", path=path)
    for index, item in enumerate(items):
        if not index % EVERY:
            let_threads_run()
        if not isinstance(item, dict):
            raise BadRequest("must be an object", path=f"{path}[{index}]")
        try:
            conversation.read(item, index if path == "input" else None)
        except BadRequest as error:
            raise BadRequest(error.message, path=f"{path}[{index}].{error.path}") from None


class _AssistantItems:
    """Consecutive items of the assistant."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[JsonObject] = []

    def message(self) -> JsonObject:
        """The items as one chat message."""
        text = "\n\n".join(text for text in self.texts if text)
        message: JsonObject = {"role": "assistant", "content": text if text or not self.calls else None}
        if self.reasoning:
            message["reasoning_content"] = "".join(self.reasoning)
        if self.calls:
            message["tool_calls"] = self.calls
        return message


class _ItemConverter:
    """The chat messages so far. `_pending` holds the assistant's items until an item of another role comes."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
        self._messages: list[JsonObject] = []
        self._pending: _AssistantItems | None = None
        self._loaded: list[JsonObject] = []  # tools to declare behind the results that follow each other

    def messages(self) -> list[JsonObject]:
        """All messages, after the last item."""
        self._end_assistant()
        self._declare_tools()
        return self._messages

    def add(self, role: str, content: str | list[JsonObject]) -> None:
        """A message of the system or the user."""
        self._end_assistant()
        self._declare_tools()
        self._messages.append({"role": role, "content": content})

    def read(self, item: JsonObject, index: int | None) -> None:
        """One item, at `index` of the input. Items that are not in _READ are ignored, see left_out_items.

        Raises BadRequest with the path of the invalid field inside of the item.
        """
        kind = _kind_of(item)
        if self._loaded and self._pending is None and kind not in _OUTPUTS:
            self._declare_tools()
        if kind == "message":
            self._message(item)
        elif kind == "reasoning":
            if text := reasoning_text(item):
                self._assistant().reasoning.append(text)
        elif (called := _CALLS.get(kind)) is not None:
            self._assistant().calls.append(_call_of(item, called, self._box))
        elif kind in _OUTPUTS:
            self._result(item, kind)
        if index is not None and self._box.loaded:
            self._loaded += self._box.loaded.get(index, ())

    def _message(self, item: JsonObject) -> None:
        role = item.get("role")
        content = item.get("content")
        if not isinstance(content, str):
            content = chat_content(content, "content")
        if role == "assistant":
            self._assistant().texts.append(content if isinstance(content, str) else dumps_text(content))
        elif isinstance(role, str) and role in _ROLES:
            self.add(_ROLES[role], content)
        else:
            raise BadRequest("must be user, assistant, system or developer", path="role")

    def _assistant(self) -> _AssistantItems:
        if self._pending is None:
            self._pending = _AssistantItems()
        return self._pending

    def _end_assistant(self) -> None:
        if self._pending is not None:
            self._messages.append(self._pending.message())
            self._pending = None

    def _declare_tools(self) -> None:
        if self._loaded:
            self._messages.append({"role": "system", "tools": self._loaded})
            self._loaded = []

    def _result(self, item: JsonObject, kind: str) -> None:
        call = item.get("call_id") or item.get("id")
        if not call or not isinstance(call, str):
            raise BadRequest("must be the id of a call", path="call_id")
        self._end_assistant()
        self._messages.append({"role": "tool", "tool_call_id": call, "content": _result_content(item, kind)})


def _result_content(item: JsonObject, kind: str) -> str | list[JsonObject]:
    """The content of the tool message for a result item."""
    if kind == "apply_patch_call_output":
        return patch_result(item)
    if kind == "tool_search_output":
        return f"Loaded tools: {', '.join(tool_names(item.get('tools'))) or 'none'}"
    return chat_content(item.get("output"), "output")


def _call_of(item: JsonObject, kind: Kind, box: Toolbox) -> JsonObject:
    """The chat call for a call item."""
    call = item.get("call_id") or item.get("id")
    if not call or not isinstance(call, str):
        raise BadRequest("must be the id of the call", path="call_id")
    name = item.get("name") if kind in ("function", "custom") else kind
    if not name or not isinstance(name, str):
        raise BadRequest("must be the name of a tool", path="name")
    function = {"name": box.name_of(name, item.get("namespace"), kind), "arguments": _arguments(item, kind)}
    return {"id": call, "type": "function", "function": function}


def _arguments(item: JsonObject, kind: Kind) -> str:
    if kind == "custom":
        return dumps_text({"input": item.get("input") or ""})
    arguments = call_arguments(item, kind)
    return arguments if isinstance(arguments, str) else dumps_text(arguments)
