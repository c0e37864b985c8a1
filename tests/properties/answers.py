"""Answers of every kind: what a model may say, and how a host may stream it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from moongate import KimiTransformer, Session

Row = dict[str, Any]

thorough = settings(max_examples=500, deadline=None, derandomize=True)

MODELS = {"k2": "moonshotai/Kimi-K2-Instruct-0905", "k3": "moonshotai/Kimi-K3"}
PARSING = {"manualToolParsing": True}
ALL_OFF = {"repairOnMismatch": False, "enforceFinishReasonLoop": False, "manualToolParsing": False}


def tool(name: str, *keys: str) -> Row:
    parameters = {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": list(keys[:1])}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [tool("bash", "command"), tool("read_file", "path", "lines"), tool("get-time"), tool("a.b:c", "x")]
NAMES = [each["function"]["name"] for each in TOOLS]
REQUEST: Row = {
    "model": "m",
    "messages": [{"role": "user", "content": "Go."}],
    "tools": TOOLS,
    "tool_choice": "auto",
    "stream": True,
}

# To draw takes most of the time, so what is drawn is whole words, calls and sections, made beforehand.
words = st.sampled_from(
    [
        *(
            "a",
            "b c",
            "XYZ",
            " ",
            "\n",
            "\t",
            " \n ",
            "0",
            "12.5",
            "_",
            "é",
            "漢字",
            "😀",
            "x\u2028y",
            "x\u0085y",
            "\\",
            '"',
        ),
        *(
            '{"a":',
            "}",
            "[1]",
            ":",
            "/",
            "\\n",
            '\\"',
            "The end.",
            "if a < b:",
            "a|b",
            "data: x\n\n",
            "null",
            "\x7f",
            "ﬁ",
        ),
    ]
)
OBJECTS: list[Row] = [
    {},
    {"command": "ls"},
    {"command": 'echo "hi"\n', "x": 1.5},
    {"path": "é漢😀", "lines": None},
    {"x": ["a", {"b": "<|tool_call_end|>"}]},
    {"x": "</think> <|im_end|> \\", "path": "\u2028"},
]
ARGUMENTS = [json.dumps(each, ensure_ascii=False) for each in OBJECTS]

K2_MARKERS = [
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_section_begin|>",
    "<|tool_call_begin|>",
    "<|tool_call_end|>",
    "<|tool_call_argument_begin|>",
    "<think>",
    "</think>",
    "<|im_end|>",
]
K3_MARKERS = [
    "<|open|>",
    "<|close|>",
    "<|sep|>",
    "<|end_of_msg|>",
    "<|open|>think<|sep|>",
    "<|close|>think<|sep|>",
    "<|open|>response<|sep|>",
    "<|close|>response<|sep|>",
    "<|open|>tools<|sep|>",
    "<|close|>tools<|sep|>",
    '<|open|>call tool="bash" index="1"<|sep|>',
    "<|close|>call<|sep|>",
    '<|open|>argument key="command" type="string"<|sep|>',
    "<|close|>argument<|sep|>",
]
SCRAPS = ["<", "<|", "|>", "<|tool_", "<|op", "functions.bash:0", "<th", "12", "call_1"]


def k2_call(header: str, arguments: str, blank: str, end: str) -> str:
    return f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{blank}{arguments}{blank}{end}"


def k2_sections() -> list[str]:
    """Sections that a model would write."""
    headers = [f"functions.{name}:{at}" for at, name in enumerate([*NAMES, "unheard"])]
    headers += ["bash:4", " functions.bash:9\n", "read_file", "functions_bash_2", "3", "call_0a"]
    blanks, ends = ["", " ", "\n"], ["<|tool_call_end|>", "<|tool_call_end|>\n", ""]
    made = [
        k2_call(header, ARGUMENTS[at % len(ARGUMENTS)], blanks[at % 3], ends[at % 5 // 2])
        for at, header in enumerate(headers)
    ]
    pairs = [one + other for one, other in zip(made, made[3:], strict=False)]
    return [f"<|tool_calls_section_begin|>{each}<|tool_calls_section_end|>" for each in ["", *made, *pairs]]


def k3_call(name: str, arguments: Row, at: int) -> str:
    parts = [f'<|open|>call tool="{name}" index="{at}"<|sep|>']
    for key, value in arguments.items():
        kind = "string" if isinstance(value, str) else "json"
        body = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        parts.append(f'<|open|>argument key="{key}" type="{kind}"<|sep|>{body}<|close|>argument<|sep|>')
    return "".join([*parts, "<|close|>call<|sep|>"])


def k3_sections() -> list[str]:
    made = [k3_call(NAMES[at % len(NAMES)], arguments, at) for at, arguments in enumerate(OBJECTS)]
    pairs = [one + other for one, other in zip(made, made[2:], strict=False)]
    return [f"<|open|>tools<|sep|>{each}<|close|>tools<|sep|>" for each in ["", *made, *pairs]]


def _soups(markers: list[str], sections: list[str]) -> st.SearchStrategy[str]:
    parts = st.one_of(words, st.sampled_from(markers), st.sampled_from(SCRAPS), st.sampled_from(sections))
    return st.lists(parts, max_size=6).map("".join)


# Texts with markers in any order, well-formed or not.
SOUPS = {"k2": _soups(K2_MARKERS, k2_sections()), "k3": _soups(K3_MARKERS, k3_sections())}


@dataclass(frozen=True)
class Message:
    """What one choice says."""

    reasoning: str
    content: str
    calls: tuple[Row, ...]
    reason: str

    def whole(self, index: int = 0) -> Row:
        message: Row = {"role": "assistant", "content": self.content or None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = list(self.calls)
        return {"index": index, "message": message, "finish_reason": self.reason}


IDS = [
    "",
    "call_1",
    "x",
    "functions.bash:0",
    "functions.bash:1",
    "functions.read_file:3",
    "functions.bash:12",
    "bash_0",
]
CALLS: list[Row] = [
    {"id": IDS[(at * 5 + shift) % len(IDS)], "type": "function", "function": {"name": name, "arguments": arguments}}
    for shift in range(4)
    for at, name in enumerate([*NAMES, "functions.bash:3", "functions_read_file_0", "unheard", "bash"])
    for arguments in ([*ARGUMENTS, "", "not json"][(at * 3 + shift) % (len(ARGUMENTS) + 2)],)
]
calls = st.sampled_from(CALLS)
reasons = st.sampled_from(["stop", "tool_calls", "length", "content_filter", "end_turn"])
MESSAGES = {
    family: st.builds(Message, soup, soup, st.lists(calls, max_size=2).map(tuple), reasons)
    for family, soup in SOUPS.items()
}

# Where texts and bytes are cut is left to chance: there is nothing to learn from a simpler cut.
chances = st.integers(0, 2**32).map(Random)


def cut_up(text: str, chance: Random, most: int = 5) -> list[str]:
    """The text in pieces, none of them empty."""
    cuts = sorted(chance.randint(0, len(text)) for _ in range(chance.randint(0, most)))
    return [piece for piece in (text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)) if piece]


def byte_cuts(data: bytes, chance: Random) -> list[bytes]:
    """The bytes in pieces: a few, or very many."""
    if chance.random() < 0.2:
        size = chance.randint(1, 7)
        return [data[at : at + size] for at in range(0, len(data), size)]
    cuts = sorted(chance.randint(0, len(data)) for _ in range(chance.randint(0, 10)))
    return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def deltas(message: Message, chance: Random) -> list[Row]:
    """The deltas that tell a message: native calls first, then the texts, as the rules of whole answers have it."""
    told: list[Row] = [{"role": "assistant"}]
    for at, call in enumerate(message.calls):
        function = call["function"]
        told.append({"tool_calls": [{"index": at, **call, "function": {**function, "arguments": ""}}]})
        for piece in cut_up(function["arguments"], chance):
            told.append({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    told += [{"reasoning_content": piece} for piece in cut_up(message.reasoning, chance)]
    told += [{"content": piece} for piece in cut_up(message.content, chance)]
    return told


def chunk(delta: Row, reason: str | None = None, index: int = 0) -> Row:
    choice = {"index": index, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def event_of(payload: Row) -> bytes:
    return b"data: " + json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode() + b"\n\n"


def sse(chunks: list[Row]) -> bytes:
    return b"".join([*map(event_of, chunks), b"data: [DONE]\n\n"])


def stream_of(message: Message, chance: Random) -> bytes:
    """The bytes of a stream that tells a message."""
    return sse([*(chunk(delta) for delta in deltas(message, chance)), chunk({}, message.reason)])


def transformer(family: str, options: Row | None = None) -> KimiTransformer:
    return KimiTransformer.from_config(options, model=MODELS[family])


def run(kimi: KimiTransformer, parts: list[bytes], content_type: str = "text/event-stream") -> bytes:
    session = Session(kimi.begin(REQUEST), content_type)
    return b"".join([*(session.feed(part) for part in parts), session.close()])


def told_of(reply: Row) -> list[Row]:
    """A whole answer in the form in which streams are put together."""
    return [
        {
            "index": choice["index"],
            "content": choice["message"].get("content") or "",
            "reasoning": choice["message"].get("reasoning_content") or "",
            "tool_calls": [
                {"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
                for call in choice["message"].get("tool_calls") or ()
            ],
            "finish_reason": choice["finish_reason"],
        }
        for choice in reply["choices"]
    ]
