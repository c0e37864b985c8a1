"""A whole chat completion → an Anthropic message: the stream's blocks, collected."""

from __future__ import annotations

from moongate.chat.items import Done
from moongate.dialects.answer import Finish, Head, whole_chunk
from moongate.dialects.block import Block
from moongate.dialects.blocks import AnswerEncoder
from moongate.dialects.messages.partial import readable_object
from moongate.dialects.messages.reply import boxed, call_id, message_of, signature_of, stop_fields, usage_body
from moongate.errors import GatewayError
from moongate.payload import JsonObject, loads


def message(reply: JsonObject, asked: JsonObject) -> JsonObject:
    """The Anthropic message that says what the completion says."""
    collector = _Collector(asked)
    collector.feed(whole_chunk(reply))
    collector.feed(Done())
    return collector.message


class _Collector(AnswerEncoder):
    """Writes no bytes; `message` is the answer."""

    def __init__(self, asked: JsonObject) -> None:
        super().__init__()
        self._asked = asked
        self._head = Head("", "", 0)
        self._texts: list[bytes] = []
        self.message: JsonObject = {}

    def _begin(self, head: Head) -> bytes:
        self._head = head
        self.message = message_of(head, self._asked)
        return b""

    def _open(self, block: Block) -> bytes:
        content = self.message["content"]
        self._texts = []
        if block.kind == "text":
            content.append({"type": "text", "text": ""})
        elif block.kind == "reasoning":
            signature = signature_of(self._head, len(content))
            content.append({"type": "thinking", "thinking": "", "signature": signature})
        else:
            shown = call_id(block.id, self._head, len(content), self._asked)
            content.append({"type": "tool_use", "id": shown, "name": block.name, "input": {}})
        return b""

    def _add(self, text: bytes) -> bytes:
        self._texts.append(text)
        return b""

    def _shut(self) -> bytes:
        block = self.message["content"][-1]
        text = loads(b'"' + b"".join(self._texts) + b'"')
        if block["type"] == "tool_use":
            block["input"] = _input_of(text)
        else:
            block[block["type"]] = text  # the text of a block stands under the block's own type
        return b""

    def _finish(self, finish: Finish) -> bytes:
        self.message.update(stop_fields(finish, self._asked))
        self.message["usage"] = usage_body(finish.usage)
        return b""

    def _fail(self, error: GatewayError) -> bytes:
        raise error


def _input_of(arguments: str) -> JsonObject:
    text = arguments.strip()
    if text and not text.startswith("{"):
        text = boxed(arguments)
    return readable_object(text)
