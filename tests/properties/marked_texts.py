"""Texts with markers of both families, well-formed or not, as strategies."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

Row = dict[str, Any]

NAMES = ["bash", "read_file", "get-time", "a.b:c"]

# Drawing takes most of the time, so strategies draw whole words, calls and sections that are made beforehand.
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
FRAGMENTS = [
    "<",
    "<|",
    "|>",
    "<|tool_",
    "<|op",
    "functions.bash:0",
    "<th",
    "12",
    "call_1",
    "`",
    "``",
    "`<think>`",
    "```\n",
]


def k2_call(header: str, arguments: str, blank: str, end: str) -> str:
    return f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{blank}{arguments}{blank}{end}"


def k2_sections() -> list[str]:
    """Sections that a model might write."""
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


def _marked_texts(markers: list[str], sections: list[str]) -> st.SearchStrategy[str]:
    parts = st.one_of(words, st.sampled_from(markers), st.sampled_from(FRAGMENTS), st.sampled_from(sections))
    return st.lists(parts, max_size=6).map("".join)


SECTIONS = {"k2": st.sampled_from(k2_sections()), "k3": st.sampled_from(k3_sections())}

# Texts with markers in any order, well-formed or not.
MARKED_TEXTS = {"k2": _marked_texts(K2_MARKERS, k2_sections()), "k3": _marked_texts(K3_MARKERS, k3_sections())}
