"""A chat stream → the events of a Responses stream, numbered, with the response object at both ends.

`response.created`, `.in_progress`; per item `.output_item.added`, its deltas and dones, `.output_item.done`; then
`response.completed`, `.incomplete` or `.failed`. Texts are kept as JSON wrote them and put together once.
"""

from __future__ import annotations

from typing import Final

from moongate.dialects.answer import Finish, Head
from moongate.dialects.block import Block
from moongate.dialects.blocks import AnswerEncoder
from moongate.dialects.responses.calls import PREFIX, call_item
from moongate.dialects.responses.reasoning import sealed
from moongate.dialects.responses.reply import answer_id, echo, ending, failure_body, is_cut, usage_body
from moongate.dialects.responses.tools import Called, toolbox
from moongate.errors import BadUpstream, GatewayError
from moongate.payload import JsonObject, dumps, loads

MAX_ANSWER: Final = 64 * 1024 * 1024  # the last event repeats the whole answer: as much as a whole answer may hold

_DELTA: Final = {
    "text": "response.output_text.delta",
    "reasoning": "response.reasoning_summary_text.delta",
    "call": "response.function_call_arguments.delta",
}


class ResponsesEncoder(AnswerEncoder):
    """The events of one answer. `asked` is the client's own request; `response` is the final object's JSON."""

    def __init__(self, asked: JsonObject) -> None:
        super().__init__()
        self._asked = asked
        self._box = toolbox(asked)
        included = asked.get("include")
        self._include = included if isinstance(included, list) else ()
        self._sequence = 0
        self._size = 0
        self._root = ""
        self._echo = b""
        self._items: list[bytes] = []
        self._kind = ""
        self._item: JsonObject = {}
        self._called: Called | None = None
        self._texts: list[bytes] = []
        self._prefix = b""
        self.response = b""

    def _event(self, name: str, fields: JsonObject) -> bytes:
        number, self._sequence = self._sequence, self._sequence + 1
        return b"event: %b\ndata: %b\n\n" % (
            name.encode("ascii"),
            dumps({"type": name, "sequence_number": number, **fields}),
        )

    def _response_event(self, name: str, status: str, last: JsonObject) -> bytes:
        """An event with the response object: what stood from the beginning, what was said, how it ended."""
        number, self._sequence = self._sequence, self._sequence + 1
        members = {"status": status, "error": None, "incomplete_details": None, "usage": None, **last}
        self.response = b'%b,%b,"output":[%b]}' % (self._echo, dumps(members)[1:-1], b",".join(self._items))
        kind = name.encode("ascii")
        data = b'{"type":"%b","sequence_number":%d,"response":%b}' % (kind, number, self.response)
        return b"event: %b\ndata: %b\n\n" % (kind, data)

    def _begin(self, head: Head) -> bytes:
        self._root = answer_id(head)
        self._echo = dumps(echo(head, self._asked))[:-1]
        created = self._response_event("response.created", "in_progress", {})
        return created + self._response_event("response.in_progress", "in_progress", {})

    def _open(self, block: Block) -> bytes:
        index = len(self._items)
        self._kind = block.kind
        self._texts = []
        place: JsonObject = {"output_index": index}
        if block.kind == "text":
            item = {"id": f"msg_{self._root}_{index}", "type": "message", "role": "assistant", "content": []}
            place["content_index"] = 0
        elif block.kind == "reasoning":
            item = {"id": f"rs_{self._root}_{index}", "type": "reasoning", "summary": []}
            place["summary_index"] = 0
        else:
            self._called = called = self._box.called(block.name)
            given = block.id or f"call_{self._root}_{index}"
            item = call_item(called, f"{PREFIX[called.kind]}_{self._root}_{index}", given, "")
        self._item = item
        self._prefix = b"event: %b\ndata: %b" % (
            _DELTA[block.kind].encode("ascii"),
            dumps({"type": _DELTA[block.kind], "item_id": item["id"], **place, "delta": ""})[:-2],
        )
        shown = item if block.kind == "reasoning" else {**item, "status": "in_progress"}
        return self._event("response.output_item.added", {"output_index": index, "item": shown}) + self._open_part()

    def _open_part(self) -> bytes:
        place = {"item_id": self._item["id"], "output_index": len(self._items)}
        if self._kind == "text":
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            return self._event("response.content_part.added", {**place, "content_index": 0, "part": part})
        if self._kind == "reasoning":
            summary = {"type": "summary_text", "text": ""}
            return self._event("response.reasoning_summary_part.added", {**place, "summary_index": 0, "part": summary})
        return b""

    def _add(self, text: bytes) -> bytes:
        self._texts.append(text)
        self._size += len(text)
        if self._size > MAX_ANSWER:
            raise BadUpstream("the provider's answer is longer than the limit")
        if self._kind == "call" and self._called is not None and self._called.kind != "function":
            return b""  # their input is known only when the arguments are whole
        number, self._sequence = self._sequence, self._sequence + 1
        if self._kind == "text":
            return b'%b%b","logprobs":[],"sequence_number":%d}\n\n' % (self._prefix, text, number)
        return b'%b%b","sequence_number":%d}\n\n' % (self._prefix, text, number)

    def _shut(self) -> bytes:
        text = loads(b'"' + b"".join(self._texts) + b'"')
        index = len(self._items)
        place = {"item_id": self._item["id"], "output_index": index}
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
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        out = self._event("response.output_text.done", {**place, "text": text, "logprobs": []})
        out += self._event("response.content_part.done", {**place, "part": part})
        return out, {**self._item, "status": status, "content": [part]}

    def _shut_reasoning(self, text: str, place: JsonObject) -> tuple[bytes, JsonObject]:
        place = {**place, "summary_index": 0}
        part = {"type": "summary_text", "text": text}
        out = self._event("response.reasoning_summary_text.done", {**place, "text": text})
        out += self._event("response.reasoning_summary_part.done", {**place, "part": part})
        item = {**self._item, "summary": [part]}
        if "reasoning.encrypted_content" in self._include:
            item["encrypted_content"] = sealed(text)
        return out, item

    def _shut_call(self, arguments: str, place: JsonObject, status: str) -> tuple[bytes, JsonObject]:
        called = self._called or Called("function", "")
        item = {**call_item(called, self._item["id"], self._item["call_id"], arguments), "status": status}
        if called.kind == "function":
            done = {**place, "arguments": arguments, "name": called.name}
            return self._event("response.function_call_arguments.done", done), item
        if called.kind == "custom":
            out = self._event("response.custom_tool_call_input.delta", {**place, "delta": item["input"]})
            return out + self._event("response.custom_tool_call_input.done", {**place, "input": item["input"]}), item
        return b"", item

    def _finish(self, finish: Finish) -> bytes:
        status, details = ending(finish)
        last = {"incomplete_details": details, "usage": usage_body(finish.usage)}
        return self._response_event(f"response.{status}", status, last)

    def _fail(self, error: GatewayError) -> bytes:
        out = b"" if self._echo else self._begin(Head("", "", 0))
        return out + self._response_event("response.failed", "failed", {"error": failure_body(error)})
