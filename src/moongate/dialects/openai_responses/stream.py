"""A chat stream → the events of a Responses stream, numbered, with the response object at both ends.

`response.created`, `.in_progress`; per item `.output_item.added`, its deltas and dones, `.output_item.done`; then
`response.completed`, `.incomplete` or `.failed`. Texts are kept as JSON wrote them and put together once.
"""

from __future__ import annotations

from typing import Final

from moongate.chat.fast import dumps_known
from moongate.dialects.answer_encoder import AnswerEncoder
from moongate.dialects.blocks import Block
from moongate.dialects.chat_answer import AnswerHead, Finish, answer_id
from moongate.dialects.openai_responses.calls import PREFIX, call_item, item_status
from moongate.dialects.openai_responses.declared_tools import CalledTool
from moongate.dialects.openai_responses.output import reasoned_item, reasoning_item, summary_part, text_item, text_part
from moongate.dialects.openai_responses.reply import echo, ending, failure_body, is_cut, state, usage_body
from moongate.dialects.openai_responses.tools import Toolbox, toolbox
from moongate.errors import BadUpstream, GatewayError
from moongate.payload import JsonObject, dumps, loads

MAX_ANSWER: Final = 64 * 1024 * 1024  # the last event repeats the whole answer: as much as a whole answer may hold

_DELTA: Final = {
    "text": "response.output_text.delta",
    "reasoning": "response.reasoning_summary_text.delta",
    "call": "response.function_call_arguments.delta",
}


class ResponsesEncoder(AnswerEncoder):
    """The events of one answer. `client_request` is the client's own request."""

    def __init__(self, client_request: JsonObject) -> None:
        super().__init__()
        self._client_request = client_request
        self._box: Toolbox | None = None  # made for the first call
        self._sequence = 0
        self._size = 0
        self._root = ""
        self._echo = memoryview(b"")
        self._items: list[bytes] = []
        self._kind = ""
        self._item_id = ""
        self._call_id = ""
        self._called: CalledTool | None = None
        self._texts: list[bytes] = []
        self._prefix = b""

    def _event(self, name: str, fields: JsonObject) -> bytes:
        number, self._sequence = self._sequence, self._sequence + 1
        return b"event: %b\ndata: %b\n\n" % (
            name.encode("ascii"),
            dumps({"type": name, "sequence_number": number, **fields}),
        )

    def _response_event(self, name: str, members: JsonObject) -> list[bytes | memoryview]:
        """An event with the response object, in parts: its constant members, its state, and the output so far.

        The tools of an agent are among them, so that they are large: they are copied once.
        """
        number, self._sequence = self._sequence, self._sequence + 1
        kind, output = name.encode("ascii"), b",".join(self._items)
        opening = b'event: %b\ndata: {"type":"%b","sequence_number":%d,"response":' % (kind, kind, number)
        return [opening, self._echo, b',%b,"output":[' % dumps(members)[1:-1], output, b"]}}\n\n"]

    def _begin(self, head: AnswerHead) -> bytes:
        self._root = answer_id(head)
        self._echo = memoryview(dumps_known(echo(head, self._client_request)))[:-1]
        members = state("in_progress")
        created = self._response_event("response.created", members)
        return b"".join(created + self._response_event("response.in_progress", members))

    def _open(self, block: Block) -> bytes:
        index = len(self._items)
        self._kind = block.kind
        self._texts = []
        place: JsonObject = {"output_index": index}
        if block.kind == "text":
            self._item_id = f"msg_{self._root}_{index}"
            item = text_item(self._item_id, [], "in_progress")
            place["content_index"] = 0
        elif block.kind == "reasoning":
            self._item_id = f"rs_{self._root}_{index}"
            item = reasoning_item(self._item_id, [])
            place["summary_index"] = 0
        else:
            self._box = self._box or toolbox(self._client_request)
            self._called = called = self._box.called(block.name, block.custom)
            self._item_id = f"{PREFIX[called.kind]}_{self._root}_{index}"
            self._call_id = block.id or f"call_{self._root}_{index}"
            item = {**call_item(called, self._item_id, self._call_id, ""), "status": "in_progress"}
        self._prefix = b"event: %b\ndata: %b" % (
            _DELTA[block.kind].encode("ascii"),
            dumps({"type": _DELTA[block.kind], "item_id": self._item_id, **place, "delta": ""})[:-2],
        )
        return self._event("response.output_item.added", {"output_index": index, "item": item}) + self._open_part()

    def _open_part(self) -> bytes:
        place = {"item_id": self._item_id, "output_index": len(self._items)}
        if self._kind == "text":
            return self._event("response.content_part.added", {**place, "content_index": 0, "part": text_part("")})
        if self._kind == "reasoning":
            fields = {**place, "summary_index": 0, "part": summary_part("")}
            return self._event("response.reasoning_summary_part.added", fields)
        return b""

    def _add_json(self, text: bytes) -> bytes:
        self._texts.append(text)
        self._size += len(text)
        check_size(self._size)
        if self._kind == "call" and self._called is not None and self._called.kind != "function":
            return b""  # their input is known only when the arguments are complete
        number, self._sequence = self._sequence, self._sequence + 1
        if self._kind == "text":
            return b'%b%b","logprobs":[],"sequence_number":%d}\n\n' % (self._prefix, text, number)
        return b'%b%b","sequence_number":%d}\n\n' % (self._prefix, text, number)

    def _shut(self) -> bytes:
        text = loads(b'"' + b"".join(self._texts) + b'"')
        index = len(self._items)
        place = {"item_id": self._item_id, "output_index": index}
        status = "incomplete" if is_cut(self._reason) else "completed"
        if self._kind == "text":
            out, item = self._shut_text(text, place, status)
        elif self._kind == "reasoning":
            out, item = self._shut_reasoning(text, place)
        else:
            out, item = self._shut_call(text, place, status)
        written = dumps(item)
        self._items.append(written)  # the last event repeats it
        number, self._sequence = self._sequence, self._sequence + 1
        fields = b'"sequence_number":%d,"output_index":%d,"item":%b' % (number, index, written)
        return out + b'event: response.output_item.done\ndata: {"type":"response.output_item.done",%b}\n\n' % fields

    def _shut_text(self, text: str, place: JsonObject, status: str) -> tuple[bytes, JsonObject]:
        place = {**place, "content_index": 0}
        part = text_part(text)
        out = self._event("response.output_text.done", {**place, "text": text, "logprobs": []})
        out += self._event("response.content_part.done", {**place, "part": part})
        return out, text_item(self._item_id, [part], status)

    def _shut_reasoning(self, text: str, place: JsonObject) -> tuple[bytes, JsonObject]:
        place = {**place, "summary_index": 0}
        out = self._event("response.reasoning_summary_text.done", {**place, "text": text})
        out += self._event("response.reasoning_summary_part.done", {**place, "part": summary_part(text)})
        return out, reasoned_item(self._item_id, text, self._client_request)

    def _shut_call(self, arguments: str, place: JsonObject, status: str) -> tuple[bytes, JsonObject]:
        called = self._called or CalledTool("function", "")
        item = call_item(called, self._item_id, self._call_id, arguments)
        item["status"] = item_status(called, status == "incomplete")
        if called.kind == "function":
            done = {**place, "arguments": arguments, "name": called.name}
            return self._event("response.function_call_arguments.done", done), item
        if called.kind == "custom":
            out = self._event("response.custom_tool_call_input.delta", {**place, "delta": item["input"]})
            return out + self._event("response.custom_tool_call_input.done", {**place, "input": item["input"]}), item
        return self._command_events(item["action"]["commands"]) if called.kind == "shell" else b"", item

    def _command_events(self, commands: list[str]) -> bytes:
        """The events of the commands of a shell call, each in one piece."""
        out = b""
        for index, command in enumerate(commands):
            place = {"output_index": len(self._items), "command_index": index}
            out += self._event("response.shell_call_command.added", {**place, "command": ""})
            out += self._event("response.shell_call_command.delta", {**place, "delta": command})
            out += self._event("response.shell_call_command.done", {**place, "command": command})
        return out

    def _finish(self, finish: Finish) -> bytes:
        status, details = ending(finish)
        members = state(status, details=details, usage=usage_body(finish.usage))
        return b"".join(self._response_event(f"response.{status}", members))

    def _fail(self, error: GatewayError) -> bytes:
        out = b"" if self._echo else self._begin(AnswerHead("", "", 0))
        return out + b"".join(self._response_event("response.failed", state("failed", error=failure_body(error))))


def check_size(size: int) -> None:
    """Raises BadUpstream where an answer's texts are longer, as JSON writes them, than an answer may be."""
    if size > MAX_ANSWER:
        raise BadUpstream("the provider's answer is longer than the limit")
