"""The rows themselves, and the readers that they describe."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.contract.cases import CASES, ContractCase
from tests.contract.readers import arguments_of, from_chunks, sdk_faults, sse_chunks

HARNESS = [case for case in CASES if case.area == "harness"]


def test_every_area_has_its_rows() -> None:
    assert Counter(case.area for case in CASES) == {
        "dynamic_tools": 27,
        "response_format": 12,
        "tool_choice": 10,
        "thinking": 23,
        "tokenization": 1,
        "params": 28,
        "harness": 13,
        "schema_wrap": 9,
    }
    assert len({case.id for case in CASES}) == 123


@pytest.mark.parametrize("case", HARNESS, ids=lambda case: str(case.id))
def test_streams_are_put_together_as_the_suite_does(case: ContractCase) -> None:
    answer = from_chunks(case.chunks)
    wanted = case.expect["assembled"]
    message = wanted["message"]
    calls = [{"id": c["id"], **c["function"]} for c in message.get("tool_calls", [])]
    assert (answer.content, answer.reasoning) == (message["content"], message.get("reasoning_content"))
    assert (answer.calls, answer.finish, answer.usage) == (calls, wanted["finish_reason"], wanted["usage"])
    assert (sdk_faults(answer) == []) == (case.expect["sdk_reader"] == "reads it")
    arguments = arguments_of(from_chunks(case.chunks, add_names=True), "lookup_tide")
    assert arguments == case.expect["schema_reader_arguments"]


def test_lines_of_a_raw_stream() -> None:
    body = b': comment\nevent: x\ndata: {"a": 1}\r\ndata:{"a": 2}\n\ndata: [DONE]\ndata: {"a": 3}\n'
    assert sse_chunks(body) == [{"a": 1}, {"a": 2}]
