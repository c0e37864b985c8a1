from __future__ import annotations

import pytest

from moongate.sim.conversation import SimCall
from moongate.sim.markup import k2_markup, k3_markup, seam

A = SimCall("add", '{"a":1}', 4, 0)
B = SimCall("sub", '{"b":"x"}', 5, 1)
SB, SE = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
CB, CA, CE = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"


@pytest.mark.parametrize(
    ("grammar", "text"),
    [
        ("", f'{SB}{CB}functions.add:4{CA}{{"a":1}}{CE}{CB}functions.sub:5{CA}{{"b":"x"}}{CE}{SE}'),
        ("singular", None),
        ("bare", f'{CB}functions.add:4{CA}{{"a":1}}{CE}{CB}functions.sub:5{CA}{{"b":"x"}}{CE}'),
        ("open", f'{SB}{CB}functions.add:4{CA}{{"a":1}}{CB}functions.sub:5{CA}{{"b":"x"}}{SE}'),
        ("unclosed", f'{SB}{CB}functions.add:4{CA}{{"a":1}}{CE}{CB}functions.sub:5{CA}{{"b":"x"}}'),
        ("two", f'{SB}{CB}functions.add:4{CA}{{"a":1}}{CE}{SE}{SB}{CB}functions.sub:5{CA}{{"b":"x"}}{CE}{SE}'),
        ("short", f'{SB}{CB}add:4{CA}{{"a":1}}{CE}{CB}sub:5{CA}{{"b":"x"}}{CE}{SE}'),
        ("safe", f'{SB}{CB}functions_add_4{CA}{{"a":1}}{CE}{CB}functions_sub_5{CA}{{"b":"x"}}{CE}{SE}'),
        ("number", f'{SB}{CB}4{CA}{{"a":1}}{CE}{CB}5{CA}{{"b":"x"}}{CE}{SE}'),
    ],
)
def test_k2_markup(grammar: str, text: str | None) -> None:
    expected = text or k2_markup([A, B]).replace("tool_calls_section", "tool_call_section")
    assert k2_markup([A, B], grammar) == expected


def test_spaced_k2_markup_is_the_same_without_its_blanks() -> None:
    spaced = k2_markup([A, B], "spaced")
    assert "".join(spaced.split()) == k2_markup([A, B])
    assert spaced.count("\n") >= 5


def test_k3_markup() -> None:
    call = SimCall("a&b", '{"s":"x","n":1,"f":1.5,"t":true,"z":null,"o":{"k":[]},"l":[1]}', 0, 0)
    text = k3_markup("hm", "hi", [call])
    assert text.startswith(
        "<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|>hi<|close|>response<|sep|>"
    )
    assert '<|open|>call tool="a&amp;b" index="1"<|sep|>' in text
    for key, kind, body in (
        ("s", "string", "x"),
        ("n", "number", "1"),
        ("f", "number", "1.5"),
        ("t", "boolean", "true"),
        ("z", "null", "null"),
        ("o", "object", '{"k":[]}'),
        ("l", "array", "[1]"),
    ):
        assert f'<|open|>argument key="{key}" type="{kind}"<|sep|>{body}<|close|>argument<|sep|>' in text


def test_k3_deviations() -> None:
    assert k3_markup("", "hi", []) == "<|open|>response<|sep|>hi<|close|>response<|sep|>"
    assert '<|open|>json type="object"<|sep|>{"a":1}<|close|>json<|sep|>' in k3_markup("", "", [A], "json")
    assert k3_markup("", "", [A], "unclosed").endswith("<|close|>tools")
    assert k3_markup("hm", "", [A], "around").endswith("<|close|>tools<|sep|><|close|>think<|sep|>")
    joined = k3_markup("", "", [A], "joined")
    assert joined.startswith('<|open|>toolscall tool="add" index="1"<|sep|>')
    assert joined.endswith("<|close|>call<|sep|><|close|>toolsmessage<|sep|>")
    assert k3_markup("hm", "", [A], "nosep").startswith("<|open|>think<|sep|>hm<|close|>think<|open|>tools")
    assert '<|open|>json type="object"<|sep|>{"a"<|close|>' in k3_markup("", "", [SimCall("add", '{"a"', 0, 0)])


@pytest.mark.parametrize(
    ("where", "k2", "k3"),
    [("header", "functions.a", '<|open|>call tool="a'), ("arguments", '{"a"', "<|sep|>"), ("end", CE, "call<|sep|>")],
)
def test_where_markup_is_cut(where: str, k2: str, k3: str) -> None:
    calls = [SimCall("add", '{"a":"xxxx"}', 4, 0)]
    for markup, before in ((k2_markup(calls), k2), (k3_markup("", "", calls), k3)):
        cut = seam(markup, calls, where)
        assert before in markup[:cut]
        assert 0 < cut < len(markup)
    assert k3_markup("", "", calls)[: seam(k3_markup("", "", calls), calls, "arguments")].endswith(
        'type="string"<|sep|>xx'
    )


def test_a_call_without_arguments_is_cut_in_its_header() -> None:
    empty = [SimCall("add", "{}", 0, 0)]
    markup = k3_markup("", "", empty)
    assert markup[: seam(markup, empty, "arguments")].endswith('tool="a')
