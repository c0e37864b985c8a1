"""Answers whose worth is known because they are built so: sound parts, and damage put into them on purpose."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.kimi.answering import CALL, K2, K3, PARSING, REQUEST, SECTION

from moongate import Verdict

Row = dict[str, Any]

SOUND = (
    '{"command":"ls"}',
    '{"path":"a b"}',
    "{}",
    '{"n":[1,2.5,null,true],"o":{"x":"\\u00e9"}}',
    "[1]",
    '{"command":5}',
)
MISFITS = ("[1]", '{"command":5}')  # JSON, but not as the schema of bash says
BROKEN = ('{"command":"ls', "{'command': 'ls'}", '{"a":1,}', "ls -l", '{"a":NaN}')


@dataclass
class JudgedAnswer:
    """A request, the answer to it as one message, and its verdict."""

    request: Row
    options: Row
    model: str
    message: Row
    reason: str
    verdict: Verdict
    checked: Verdict  # the same where calls are checked against their schemas
    broken: bool = False  # a stream of it ends before its finish reason

    def body(self) -> Row:
        return {"id": "c", "choices": [{"index": 0, "message": self.message, "finish_reason": self.reason}]}

    def events(self) -> bytes:
        """The same as a stream, with its texts and arguments in a few pieces."""
        deltas: list[Row] = [{"role": "assistant"}]
        text = self.message.get("content") or ""
        deltas += [{"content": text[at : at + 9]} for at in range(0, len(text), 9)]
        for index, call in enumerate(self.message.get("tool_calls") or ()):
            function = call["function"]
            deltas.append({"tool_calls": [{**call, "index": index, "function": {**function, "arguments": ""}}]})
            arguments = function["arguments"]
            for at in range(0, len(arguments), 8):
                deltas.append({"tool_calls": [{"index": index, "function": {"arguments": arguments[at : at + 8]}}]})
        events = [_event(delta, None) for delta in deltas]
        return b"".join(events if self.broken else [*events, _event({}, self.reason), b"data: [DONE]\n\n"])


@dataclass
class _Draft:
    """An answer while it is built."""

    kinds: set[str] = field(default_factory=set)
    misfits: bool = False  # a call does not fit its schema
    repaired: bool = False
    required: bool = False
    reason: str = "stop"


def judged_answer(random: Random) -> JudgedAnswer:
    draft = _Draft()
    form = random.choice(("text", "native", "native", "k2", "k2", "k3", "unread", "empty"))
    options, model = {"k2": (PARSING, K2), "k3": (PARSING, K3)}.get(form, ({}, K2))
    draft.required = random.random() < 0.2
    request = {**REQUEST, "tool_choice": "required"} if draft.required else REQUEST
    text = random.choice(("", "Well.\n", "Ça va: `a<b`, so "))
    message: Row = {"role": "assistant", "content": text or None}
    if form == "text":
        message["content"] = text or "Yes."
        draft.reason = random.choice(("stop", "length", "content_filter"))
    elif form == "native":
        message["tool_calls"] = _native(random, draft)
    elif form == "k2":
        message["content"] = text + _k2(random, draft)
    elif form == "k3":
        message["content"] = text + _k3(random, draft)
    elif form == "unread":  # markers that nobody parses
        message["content"] = text + SECTION.format(CALL.format("functions.bash:0", "{}"))
        draft.kinds.add("leaked")
    else:
        message["content"] = None
        draft.reason = random.choice(("stop", "length"))
        if draft.reason != "length":
            draft.kinds.add("empty_turn")
    if draft.required and form in ("text", "unread", "empty") and draft.reason not in ("length", "content_filter"):
        draft.kinds.add("missing_call")
    broken = random.random() < 0.05
    verdict = _verdict(draft, broken)
    if draft.misfits:
        draft.kinds.add("schema_mismatch")
    checked = _verdict(draft, broken)
    return JudgedAnswer(request, dict(options), model, message, draft.reason, verdict, checked, broken)


def _verdict(draft: _Draft, broken: bool) -> Verdict:
    if broken:
        return Verdict("failed")
    if draft.kinds:
        return Verdict("damaged", tuple(sorted(draft.kinds)))
    return Verdict("repaired" if draft.repaired else "clean")


def _native(random: Random, draft: _Draft) -> list[Row]:
    draft.reason = random.choice(("tool_calls", "tool_calls", "stop", "length"))
    calls: list[Row] = []
    count = random.choice((1, 1, 2, 3))
    for at in range(count):
        cut = draft.reason == "length" and at == count - 1  # what is wrong with it is no damage then
        name, arguments = "bash", random.choice(SOUND)
        kinds = set[str]()
        if random.random() < 0.2:
            name = "rm_rf"
            kinds.add("unknown_tool")
        if random.random() < 0.2:
            arguments = random.choice(BROKEN)
            kinds.add("invalid_json")
        draft.kinds |= set() if cut else kinds
        draft.misfits = draft.misfits or (not cut and name == "bash" and arguments in MISFITS)
        good = f"functions.{name}:{at}"
        given = good if random.random() < 0.7 else f"call_{at}"
        draft.repaired = draft.repaired or given != good
        calls.append({"id": given, "type": "function", "function": {"name": name, "arguments": arguments}})
    if random.random() < 0.15:
        calls.append({"id": "x", "type": "function", "function": {"name": "", "arguments": "{}"}})
        draft.repaired = True
        if draft.reason != "length":
            draft.kinds.add("nameless")
    draft.repaired = draft.repaired or draft.reason == "stop"
    return calls


def _k2(random: Random, draft: _Draft) -> str:
    draft.repaired = True
    draft.reason = random.choice(("stop", "tool_calls"))
    count = random.choice((1, 2, 3))
    calls = []
    for at in range(count):
        name, arguments = "bash", random.choice(SOUND)
        if random.random() < 0.2:
            name = "rm_rf"
            draft.kinds.add("unknown_tool")
        if random.random() < 0.2:
            arguments = random.choice(BROKEN)
            draft.kinds.add("invalid_json")
        draft.misfits = draft.misfits or (name == "bash" and arguments in MISFITS)
        calls.append(CALL.format(f"functions.{name}:{at}", arguments))
    section = SECTION.format("".join(calls))
    if random.random() < 0.2:  # the text ends inside one more call
        draft.reason = random.choice(("stop", "length"))
        if draft.reason == "stop":
            draft.kinds.add("cut_call")
        return section + CALL.format("functions.read:9", '{"path": "a').removesuffix("<|tool_call_end|>")
    if random.random() < 0.15:  # the text ends inside a header, which stays visible
        sound = not draft.kinds and not draft.misfits  # else the last call might be excused by the limit
        draft.reason = random.choice(("stop", "length")) if sound else "stop"
        if draft.reason == "stop":
            draft.kinds.add("leaked")
        return section + "<|tool_call_begin|>functions.re"
    if random.random() < 0.15:  # a block without a name stays visible
        draft.kinds.add("leaked")
        return section + CALL.format(":", "{}")
    return section


def _k3(random: Random, draft: _Draft) -> str:
    draft.repaired = True
    draft.reason = random.choice(("stop", "tool_calls"))
    calls = []
    for _ in range(random.choice((1, 2))):
        name = "bash"
        if random.random() < 0.2:
            name = "rm_rf"
            draft.kinds.add("unknown_tool")
        argument = '<|open|>argument key="command" type="string"<|sep|>ls<|close|>argument<|sep|>'
        calls.append(f'<|open|>call tool="{name}" index="1"<|sep|>{argument}<|close|>call<|sep|>')
    if random.random() < 0.15:
        draft.kinds.add("nameless")
        calls.append('<|open|>call index="2"<|sep|><|close|>call<|sep|>')
    if random.random() < 0.2:
        draft.kinds.add("cut_call")
        draft.reason = "stop"
        opened = '<|open|>call tool="bash" index="3"<|sep|><|open|>argument key="command" type="string"<|sep|>l'
        return f"<|open|>tools<|sep|>{''.join(calls)}{opened}"
    return f"<|open|>tools<|sep|>{''.join(calls)}<|close|>tools<|sep|>"


def _event(delta: Row, reason: str | None) -> bytes:
    payload = {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"
