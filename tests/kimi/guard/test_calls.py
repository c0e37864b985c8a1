"""One call under the guard."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from tests.kimi.answering import tool

from moongate.kimi.answer.judge import JudgedCall
from moongate.kimi.guard.calls import CallGuard
from moongate.kimi.guard.tool_schemas import ToolSchema, ToolSchemas

LIMITED = {
    "type": "function",
    "function": {"name": "read_file", "parameters": {"type": "object", "properties": {"limit": {"type": "integer"}}}},
}
PATCH = {"type": "custom", "custom": {"name": "patch"}}
# One that no JSON library reads; one that only one of the two reads, which newer Pythons read both.
DEPTHS = [100_000, 1_010] if sys.version_info < (3, 12) else [100_000]
INSIDE = {"role": "system", "tools": [tool("inside")]}
REQUEST: dict[str, Any] = {"messages": [INSIDE, {"role": "user", "content": "Go."}, 7], "tools": [LIMITED, PATCH]}


def guard(request: Any = REQUEST, *, repairs: bool = False) -> CallGuard:
    return CallGuard(request, ToolSchemas(), (lambda text: text.replace("'", '"')) if repairs else None)


def test_a_valid_call_is_left_as_it_is() -> None:
    text = '{"limit": 5 }'
    call = guard().check("read_file", text)
    assert (call.name, call.arguments, call.error, call.notes) == ("read_file", text, "", ())
    assert call.judged == JudgedCall("read_file", text)
    assert not guard().check("inside", "{}").error


def test_a_near_name_is_mended() -> None:
    call = guard().check("functions.ReadFile", "{}")
    assert call.name == "read_file"
    assert not call.error
    assert [(note.kind, note.where, note.before, note.after) for note in call.notes] == [
        ("guard", ".function.name", "functions.ReadFile", "read_file")
    ]


def test_an_unknown_name_is_told_with_the_offered_ones() -> None:
    assert guard().check("rm", "{").error == "there is no tool 'rm'; the tools are read_file, patch, inside"
    assert guard({"messages": []}).check("rm", "{}").error == "there is no tool 'rm': none is offered"
    many = {"tools": [tool(f"t{number}") for number in range(30)]}
    assert guard(many).check("rm", "{}").error.endswith("t19 …")


def test_arguments_that_are_no_json() -> None:
    call = guard().check("read_file", "{'limit': 5}")
    assert call.error.startswith("the arguments are not valid JSON (")
    assert not call.misfit
    assert guard(repairs=True).check("read_file", "{'limit'").error.startswith("the arguments are not valid JSON (")
    repaired = guard(repairs=True).check("read_file", "{'limit': '5'}")
    assert repaired.arguments == '{"limit":5}'
    assert [note.where for note in repaired.notes] == [".function.arguments", ".function.arguments.limit"]
    assert all(note.why for note in repaired.notes)


def test_arguments_that_do_not_fit() -> None:
    call = guard().check("read_file", '{"limit": "all"}')
    assert call.error == ('the arguments do not fit the tool\'s schema: limit: must be integer, not string "all"')
    assert call.judged.misfit
    mended = guard().check("read_file", '"{\\"limit\\":1}"')
    assert mended.arguments == '{"limit":1}'
    assert [note.where for note in mended.notes] == [".function.arguments"]


def test_mending_changes_nothing_else() -> None:
    """Integers keep all their digits; what cannot be written as it is read is not mended."""
    call = guard().check("read_file", '{"limit":"5","id":123456789012345678901234567890}')
    assert call.arguments == '{"limit":5,"id":123456789012345678901234567890}'
    deep = ["[" * depth + "]" * depth for depth in DEPTHS]
    for inner in ("1e400", "9" * 5000, *deep):
        text = f'{{"limit":"5","x":{inner}}}'
        call = guard().check("read_file", text)
        assert call.arguments == text
        assert call.error


@pytest.mark.parametrize("text", ["*** Begin Patch", "{"])
def test_the_text_of_a_custom_tool_is_free(text: str) -> None:
    call = guard().check("patch", text, custom=True)
    assert (call.arguments, call.error) == (text, "")
    assert call.judged.custom


def test_tools_are_prepared_once_for_all_calls_of_an_answer() -> None:
    """To find a schema it is written, and a client may send megabytes of it."""

    class Counting(ToolSchemas):
        asked = 0

        def of(self, parameters: object) -> ToolSchema:
            self.asked += 1
            return super().of(parameters)

    schemas = Counting()
    checked = CallGuard(REQUEST, schemas, None)
    for _ in range(3):
        assert not checked.check("read_file", "{}").error
        assert checked.check("Read-File", "{}").name == "read_file"
        assert checked.check("rm", "{}").error
    assert schemas.asked == 1
