"""A chat stream → Anthropic's events: `message_start`, the blocks one after the other, `message_delta`, the stop."""

from __future__ import annotations

from moongate.dialects.answer_encoder import AnswerEncoder
from moongate.dialects.anthropic_messages.errors import error_event
from moongate.dialects.anthropic_messages.reply import (
    KnownIds,
    boxed,
    call_id,
    message_of,
    signature_of,
    stop_fields,
    usage_body,
)
from moongate.dialects.blocks import Block
from moongate.dialects.chat_answer import AnswerHead, Finish
from moongate.errors import GatewayError
from moongate.payload import JsonObject, dumps, loads

_DELTAS = {
    "text": b'"delta":{"type":"text_delta","text":"',
    "reasoning": b'"delta":{"type":"thinking_delta","thinking":"',
    "call": b'"delta":{"type":"input_json_delta","partial_json":"',
}
_SUFFIX = b'"}}\n\n'
_STOP = b'event: message_stop\ndata: {"type":"message_stop"}\n\n'


def event(name: str, fields: JsonObject) -> bytes:
    """One server-sent event; its name stands in the data too."""
    return b"event: %b\ndata: %b\n\n" % (name.encode("ascii"), dumps({"type": name, **fields}))


class MessagesEncoder(AnswerEncoder):
    """The events of one answer. `client_request` is the client's own request."""

    def __init__(self, client_request: JsonObject) -> None:
        super().__init__()
        self._client_request = client_request
        self._known = KnownIds(client_request)
        self._head = AnswerHead("", "", 0)
        self._index = -1
        self._kind = ""
        self._prefix = b""  # of the open block's deltas: made once, the text goes between it and the suffix
        self._odd: list[bytes] | None = None  # arguments that did not begin as an object, until they end
        self._unsure = False  # no arguments yet that show whether they are an object

    def _begin(self, head: AnswerHead) -> bytes:
        self._head = head
        return event("message_start", {"message": message_of(head, self._client_request)})

    def _open(self, block: Block) -> bytes:
        self._index += 1
        self._kind = block.kind
        self._prefix = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,%b' % (
            self._index,
            _DELTAS[block.kind],
        )
        content: JsonObject
        if block.kind == "text":
            content = {"type": "text", "text": ""}
        elif block.kind == "reasoning":
            content = {"type": "thinking", "thinking": "", "signature": ""}
        else:
            self._odd, self._unsure = None, True
            shown = call_id(block.id, self._head, self._index, self._known)
            content = {"type": "tool_use", "id": shown, "name": block.name, "input": {}}
        return event("content_block_start", {"index": self._index, "content_block": content})

    def _add_json(self, text: bytes) -> bytes:
        if self._kind == "call" and (self._unsure or self._odd is not None) and self._waits(text):
            return b""
        return self._prefix + text + _SUFFIX

    def _waits(self, text: bytes) -> bool:
        """Does this piece of arguments wait for the end of the call, since they are no object?"""
        if self._odd is None:
            begin = loads(b'"' + text + b'"').lstrip()
            if not begin:  # blanks mean nothing in JSON, and the SDKs stumble over arguments that are only blanks
                return True
            self._unsure = False
            if begin[0] == "{":
                return False
            self._odd = []
        self._odd.append(text)
        return True

    def _shut(self) -> bytes:
        out = b""
        if self._kind == "reasoning":
            signature = signature_of(self._head, self._index)
            delta = {"type": "signature_delta", "signature": signature}
            out = event("content_block_delta", {"index": self._index, "delta": delta})
        elif self._kind == "call" and self._odd is not None:
            arguments = loads(b'"' + b"".join(self._odd) + b'"')
            out = self._prefix + dumps(boxed(arguments))[1:-1] + _SUFFIX
            self._odd = None
        return out + event("content_block_stop", {"index": self._index})

    def _finish(self, finish: Finish) -> bytes:
        delta = stop_fields(finish, self._client_request)
        return event("message_delta", {"delta": delta, "usage": usage_body(finish.usage)}) + _STOP

    def _fail(self, error: GatewayError) -> bytes:
        return error_event(error)
