"""A whole completion as the blocks that a stream of it would be: read by the same code, without events."""

from __future__ import annotations

from moongate.dialects.block_sequence import BlockSequence
from moongate.dialects.blocks import Block
from moongate.dialects.chat_answer import AnswerHead, Finish
from moongate.payload import JsonObject, dumps, loads


class CompletionBlocks(BlockSequence):
    """What a completion contains: its head, its blocks (`texts` has the text of each), how it ended.

    Raises BadUpstream where a stream would break. Only the first choice is read. The first `complete` blocks ended
    before the answer did; in a stream it is the end that closes the others.
    """

    head: AnswerHead
    finish: Finish

    def __init__(self, reply: JsonObject) -> None:
        super().__init__()
        self.blocks: list[Block] = []
        self.texts: list[str] = []
        self.complete = 0
        self._read(reply, "message")
        self._end()

    def _begin(self, head: AnswerHead) -> bytes:
        self.head = head
        return b""

    def _open(self, block: Block) -> bytes:
        self.blocks.append(block)
        self.texts.append("")
        return b""

    def _add(self, text: str) -> bytes:
        self.texts[-1] += text
        return b""

    def _call_delta(self, delta: JsonObject) -> bytes:
        return super()._call_delta({**delta, "index": len(self._calls)})  # every call of a message is one of its own

    def _shut(self) -> bytes:
        text = self.texts[-1]
        if not text.isascii():
            self.texts[-1] = loads(dumps(text))  # two halves of a character that meet are one character
        if self._reason is None:
            self.complete += 1
        return b""

    def _finish(self, finish: Finish) -> bytes:
        self.finish = finish
        return b""
