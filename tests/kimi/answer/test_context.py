from __future__ import annotations

import pytest
from tests.kimi.answering import K2, K3, PARSING, begin, tool

from moongate.chat.contracts import Note
from moongate.kimi.markers.k2 import K2Parser
from moongate.kimi.markers.k3 import K3Parser
from moongate.kimi.markers.pieces import WholeCalls


@pytest.mark.parametrize(("model", "parser"), [(K2, K2Parser), (K3, K3Parser)])
def test_each_family_has_its_parser(model: str, parser: type) -> None:
    assert isinstance(begin(PARSING, model=model).answer.parser(), parser)


def test_a_parser_knows_tools_by_the_names_that_were_sent() -> None:
    request = {"messages": [{"role": "user", "content": "Go."}], "tools": [tool("21st.magic", "q")]}
    found = begin(PARSING, request=request, model="kimi-k2-0905-preview", base_url="https://api.moonshot.ai/v1").answer
    sent, parser = found.names.sent("21st.magic"), found.parser()
    pieces = parser.feed("content", f"<|tool_call_begin|>{sent}<|tool_call_argument_begin|>{{}}<|tool_call_end|>")
    assert pieces == [WholeCalls([(sent, sent, "{}")])]


def test_what_can_be_skipped_is_worked_out_once() -> None:
    assert begin().answer.only_ids
    assert begin().answer.repairs_calls
    assert not begin({"repairOnMismatch": False}).answer.repairs_calls
    for options in (PARSING, {"repairArguments": True}):
        assert not begin(options).answer.only_ids


def test_markers_are_seen_once() -> None:
    found = begin().answer
    assert found.tokens
    found.marker_seen("here", "<|x|>")
    assert not found.tokens
    assert list(found.notes) == [Note("markers_seen", "here", "<|x|>", None)]
    assert not begin(PARSING).answer.tokens


def test_arguments_are_mended() -> None:
    found = begin({"repairArguments": True}).answer
    assert found.repaired_arguments('"{}"') == "{}"
    assert found.repaired_arguments("{}<|tool_call_end|>") == "{}"


def test_text_that_may_hold_a_marker() -> None:
    usual = begin().answer
    assert usual.may_hold_marker("a < b")
    assert not usual.may_hold_marker("a [ b")
    own = begin({"toolTokens": {"callBegin": "[[CALL]]"}}).answer
    assert own.may_hold_marker("a < b")
    assert own.may_hold_marker("a [ b")
    assert not own.may_hold_marker("a b")


def test_a_parser_reads_code_spans_as_well() -> None:
    assert begin().answer.stop_characters == "<"
    assert begin(PARSING).answer.stop_characters == "<`"


def test_a_name_may_go_on_if_a_longer_one_was_offered_or_it_is_no_name_yet() -> None:
    request = {"messages": [{"role": "user", "content": "Go."}], "tools": [tool("read"), tool("read_file")]}
    found = begin(request=request).answer
    begun = ["", "read", "read_f", "func", "functions", "functions.unknown"]
    assert [name for name in [*begun, "read_file", "write", "functions.read_file"] if found.may_go_on(name)] == begun
