"""Conversations whose calls have the ids of other APIs, of clients that rewrite them, or of counters that restart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from moongate.payload import JsonObject, dumps_text

# How a client or an engine writes the id of the n-th call.
ID_SHAPES: Final[Mapping[str, Callable[[str, int], str]]] = {
    "foreign": lambda _name, n: f"call_{(n + 1) * 2654435761 % 2**32:08x}",
    "sanitised": lambda name, n: f"functions_{name}_{n}",
    "restarting": lambda name, _n: f"functions.{name}:0",
    "anthropic": lambda _name, n: f"toolu_{(n + 1) * 2246822519 % 2**32:08x}",
    "uuid": lambda _name, n: f"chatcmpl-tool-{(n + 1) * 40503 % 2**32:032x}",
    "short": lambda name, n: f"{name}:{n}",
    "one": lambda _name, _n: "call_0",
    "number": lambda _name, n: str(n),
}
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": (
        "When is high tide in {0}?",
        "High tide in {0} is at 06:14.",
        "And when is it in {0}? Use the tool again.",
    ),
    "zh": ("{0}什么时候涨潮？", "{0}的高潮在 06:14。", "{0}呢？请再用一次工具。"),
}
# Moonshot refuses calls without reasoning where the model thinks: that is not what these histories are about.
_THOUGHTS: Final[Mapping[str, str]] = {"en": "I look at the tide table.", "zh": "我查一下潮汐表。"}
_HARBOURS: Final[Mapping[str, tuple[str, ...]]] = {
    "en": ("Brest", "Cuxhaven", "Dover", "Hull"),
    "zh": ("青岛", "厦门", "宁波", "大连"),
}
_TURNS: Final = 3


def history(row: JsonObject, tools: Mapping[str, JsonObject]) -> JsonObject:
    """The conversation of a row: some tasks that were done with calls, then a further one."""
    made = _Calls(ID_SHAPES[row["ids"]], _THOUGHTS[row["language"]])
    texts, harbours = _TEXTS[row["language"]], _HARBOURS[row["language"]]
    messages: list[JsonObject] = []
    for turn in range(_TURNS):
        ask = texts[0 if turn == 0 else 2].format(harbours[turn])
        asked = harbours[turn : turn + 2] if row["shape"] == "parallel" else harbours[turn : turn + 1]
        messages += [{"role": "user", "content": ask}, *made.answered(asked)]
        messages.append({"role": "assistant", "content": texts[1].format(harbours[turn])})
    messages.append({"role": "user", "content": texts[2].format(harbours[3])})
    return {"messages": messages, "tools": [tools["tide_table"], tools["weather_at"]]}


class _Calls:
    def __init__(self, shape: Callable[[str, int], str], thought: str) -> None:
        self._shape, self._thought, self._made = shape, thought, 0

    def answered(self, harbours: tuple[str, ...]) -> list[JsonObject]:
        """An assistant's message with a call for each harbour, and the results."""
        calls: list[JsonObject] = []
        for harbour in harbours:
            function = {"name": "tide_table", "arguments": dumps_text({"harbour": harbour})}
            calls.append({"id": self._shape("tide_table", self._made), "type": "function", "function": function})
            self._made += 1
        results: list[JsonObject] = [
            {"role": "tool", "tool_call_id": call["id"], "content": "high tide 06:14, low tide 12:31"} for call in calls
        ]
        message = {"role": "assistant", "content": "", "reasoning_content": self._thought, "tool_calls": calls}
        return [message, *results]
