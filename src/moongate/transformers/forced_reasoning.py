"""`forcereasoning`: a model that does not think by itself is asked to, and its thinking is read from tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from moongate.chat.contracts import Exchange
from moongate.payload import JsonObject
from moongate.transformers.choices import ChoiceEditingExchange
from moongate.transformers.options import Configured, is_tag, is_text, option
from moongate.transformers.system_prompt import with_instruction
from moongate.transformers.tagged_text import TaggedText

PROMPT: Final = (
    "Before every answer and every tool call, think the task through step by step. Begin your reply with this thinking "
    "between <{tag}> and </{tag}>, and write nothing in front of it. Everything behind </{tag}> is shown to the user."
)


@dataclass(frozen=True, slots=True)
class ForceReasoningTransformer(Configured):
    """Thinking at the beginning of the text leaves as `reasoning_content`.

    >>> exchange = ForceReasoningTransformer().begin({"messages": []})
    >>> message = {"role": "assistant", "content": "<think>Polite?</think>Hello"}
    >>> exchange.reply({"choices": [{"index": 0, "message": message}]})["choices"][0]["message"]
    {'role': 'assistant', 'content': 'Hello', 'reasoning_content': 'Polite?'}
    """

    tag: str = option("think", is_tag, "the name of the tags that the thinking stands between")
    prompt: str = option(
        PROMPT, is_text, "how it is asked for, `{tag}` in it being the tag's name; empty: only the tags are read"
    )

    def begin(self, request: JsonObject) -> Exchange:
        asked = with_instruction(request, self.prompt.replace("{tag}", self.tag))
        return ChoiceEditingExchange(asked, lambda: TaggedReasoning(self.tag))


class TaggedReasoning:
    """The thinking of one choice."""

    __slots__ = ("_text",)

    def __init__(self, tag: str) -> None:
        self._text = TaggedText(tag)

    def feed(self, delta: JsonObject, finish_reason: object) -> tuple[JsonObject, object]:
        content = delta.get("content")
        reasoning, rest = self._text.feed(content) if isinstance(content, str) and content else ("", content)
        if finish_reason or delta.get("tool_calls"):
            last = self._text.close()
            reasoning += last.reasoning
            rest = (rest or "") + last.content if last.content else rest
        if rest != content:
            delta = {**delta, "content": rest}
        if reasoning:
            delta = {**delta, "reasoning_content": (delta.get("reasoning_content") or "") + reasoning}
        return delta, finish_reason

    def close(self) -> JsonObject:
        reasoning, content = self._text.close()
        if reasoning:
            return {"reasoning_content": reasoning}
        return {"content": content} if content else {}
