"""The input items of a Responses request → chat messages.

Everything that the assistant said or did between two inputs of others (reasoning, text, calls, in whatever order the
client replays them) is one chat message, so that the results follow their calls.
"""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.contracts import Note
from moongate.dialects.responses.content import chat_content
from moongate.dialects.responses.reasoning import reasoning_text
from moongate.dialects.responses.tools import Kind, Toolbox
from moongate.errors import BadRequest
from moongate.payload import JsonObject, dumps_text

_ROLES: Final = {"user": "user", "system": "system", "developer": "system"}
_OUTPUTS: Final = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"}
)
_CALLS: Final[dict[str, Kind]] = {
    "function_call": "function",
    "custom_tool_call": "custom",
    "local_shell_call": "local_shell",
    "tool_search_call": "tool_search",
}
_READ: Final = frozenset({"message", "reasoning", "additional_tools", *_OUTPUTS, *_CALLS})  # tools.py offers the tools


def chat_messages(body: JsonObject, box: Toolbox) -> list[JsonObject]:
    """`instructions` and `input` as chat messages. Raises BadRequest with the path of the culprit."""
    conversation = _Conversation(box)
    instructions = body.get("instructions")
    if isinstance(instructions, str):
        conversation.says("system", instructions)
    elif instructions is not None:
        _read_all(instructions, "instructions", conversation)
    given = body.get("input")
    if isinstance(given, str):
        conversation.says("user", given)
    elif given is not None:
        _read_all(given, "input", conversation)
    if not (messages := conversation.messages()):
        raise BadRequest("must hold at least one message", path="input")
    return messages


def left_out_items(body: JsonObject) -> list[Note]:
    """One note per item of a (good) request that has no place in a chat request."""
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


def _read_all(items: Any, path: str, conversation: _Conversation) -> None:
    if not isinstance(items, list):
        raise BadRequest("must be a text or a list of items", path=path)
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise BadRequest("must be an object", path=f"{path}[{index}]")
        conversation.read(item, f"{path}[{index}]")


class _Turn:
    """What the assistant said and did while nobody else spoke."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.thoughts: list[str] = []
        self.calls: list[JsonObject] = []

    def message(self) -> JsonObject:
        """The turn as one chat message."""
        text = "\n\n".join(text for text in self.texts if text)
        message: JsonObject = {"role": "assistant", "content": text if text or not self.calls else None}
        if self.thoughts:
            message["reasoning_content"] = "".join(self.thoughts)
        if self.calls:
            message["tool_calls"] = self.calls
        return message


class _Conversation:
    """The chat messages so far. `_turn` is the assistant's, as long as nobody else spoke."""

    def __init__(self, box: Toolbox) -> None:
        self._box = box
        self._messages: list[JsonObject] = []
        self._turn: _Turn | None = None

    def messages(self) -> list[JsonObject]:
        """All of them; the conversation is over."""
        self._end_turn()
        return self._messages

    def says(self, role: str, content: str | list[JsonObject]) -> None:
        self._end_turn()
        self._messages.append({"role": role, "content": content})

    def read(self, item: JsonObject, path: str) -> None:
        """What is not in _READ has no place here, see left_out_items."""
        kind = _kind_of(item)
        if kind == "message":
            self._message(item, path)
        elif kind == "reasoning":
            if text := reasoning_text(item):
                self._assistant().thoughts.append(text)
        elif kind in _OUTPUTS:
            self._result(item, path)
        elif kind in _CALLS:
            self._assistant().calls.append(_call_of(item, _CALLS[kind], self._box, path))

    def _message(self, item: JsonObject, path: str) -> None:
        role = item.get("role")
        content = item.get("content")
        if not isinstance(content, str):
            content = chat_content(content, f"{path}.content")
        if role == "assistant":
            self._assistant().texts.append(content if isinstance(content, str) else dumps_text(content))
        elif isinstance(role, str) and role in _ROLES:
            self.says(_ROLES[role], content)
        else:
            raise BadRequest("must be user, assistant, system or developer", path=f"{path}.role")

    def _assistant(self) -> _Turn:
        if self._turn is None:
            self._turn = _Turn()
        return self._turn

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._messages.append(self._turn.message())
            self._turn = None

    def _result(self, item: JsonObject, path: str) -> None:
        call = item.get("call_id") or item.get("id")
        if not call or not isinstance(call, str):
            raise BadRequest("must be the id of a call", path=f"{path}.call_id")
        content = chat_content(item.get("output", item.get("tools")), f"{path}.output")
        self._end_turn()
        self._messages.append({"role": "tool", "tool_call_id": call, "content": content})


def _call_of(item: JsonObject, kind: Kind, box: Toolbox, path: str) -> JsonObject:
    """The chat call of an item that is a call."""
    call = item.get("call_id") or item.get("id")
    if not call or not isinstance(call, str):
        raise BadRequest("must be the id of the call", path=f"{path}.call_id")
    name = item.get("name") if kind in ("function", "custom") else kind
    if not name or not isinstance(name, str):
        raise BadRequest("must be the name of a tool", path=f"{path}.name")
    function = {"name": box.name_of(name, item.get("namespace"), kind), "arguments": _arguments(item, kind)}
    return {"id": call, "type": "function", "function": function}


def _arguments(item: JsonObject, kind: Kind) -> str:
    if kind == "custom":
        return dumps_text({"input": item.get("input") or ""})
    if kind == "local_shell":
        action = item.get("action")
        known = action.items() if isinstance(action, dict) else ()
        return dumps_text({key: value for key, value in known if key != "type"})
    arguments = item.get("arguments")
    return arguments if isinstance(arguments, str) else dumps_text(arguments or {})
