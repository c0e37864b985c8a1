"""The official SDKs and faults: each fault is an exception of the SDK or a correct answer, nothing in between."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
import pytest
from tests.faults.conftest import Gateways, model_for
from tests.faults.table import TABLE, Row
from tests.support.client_view import IN_BAND_ERROR, OK, Outcome
from tests.support.length import FULL

# `make faults` runs all of them; these are one of each kind.
SAMPLE = {
    *("ok", "ok_tools", "k2_markers", "ndjson", "close_no_bytes", "reset_mid_body", "reset_mid_stream"),
    *("truncated_chunked", "hang_mid_stream", "not_http", "giant_header", "status", "leaky_401", "r429_long"),
    *("html_200", "error_string", "error_in_200", "redirect", "json_invalid", "json_nul", "gzip_ok", "sse_empty"),
    *("sse_error_first", "sse_error_mid_done", "sse_no_done", "sse_no_finish", "sse_crlf", "sse_after_done"),
    *("sse_invalid_json", "sse_wrong_ctype", "sse_tool_cut", "sse_tool_bad_ids", "sse_big_line", "anthropic_cut"),
}
ROWS = [row for row in TABLE if FULL or row.name in SAMPLE]
HELLO: list[Any] = [{"role": "user", "content": "hi"}]


@dataclass(frozen=True, slots=True)
class Sdks:
    openai: openai.OpenAI
    anthropic: anthropic.Anthropic


@pytest.fixture(scope="module")
def sdks(gateways: Gateways) -> Iterator[dict[str, Sdks]]:
    with contextlib.ExitStack() as stack:
        made = {}
        for gateway in (gateways.normal, gateways.impatient):
            one = openai.OpenAI(base_url=f"{gateway.root}/v1", api_key=gateway.key, max_retries=0)
            two = anthropic.Anthropic(base_url=gateway.root, api_key=gateway.key, max_retries=0)
            made[gateway.root] = Sdks(stack.enter_context(one), stack.enter_context(two))
        yield made


def chat_whole(sdks: Sdks, model: str) -> bool:
    return bool(sdks.openai.chat.completions.create(model=model, messages=HELLO).choices[0].finish_reason)


def chat_streamed(sdks: Sdks, model: str) -> bool:
    chunks = list(sdks.openai.chat.completions.create(model=model, messages=HELLO, stream=True))
    return any(choice.finish_reason for chunk in chunks for choice in chunk.choices)


def responses_whole(sdks: Sdks, model: str) -> bool:
    return sdks.openai.responses.create(model=model, input="hi").status in ("completed", "incomplete")


def responses_streamed(sdks: Sdks, model: str) -> bool:
    *_, last = sdks.openai.responses.create(model=model, input="hi", stream=True)
    if last.type in ("response.failed", "error"):
        raise InBand
    return last.type in ("response.completed", "response.incomplete")


def messages_whole(sdks: Sdks, model: str) -> bool:
    message = sdks.anthropic.messages.create(model=model, messages=HELLO, max_tokens=99)
    return message.stop_reason is not None


def messages_streamed(sdks: Sdks, model: str) -> bool:
    with sdks.anthropic.messages.stream(model=model, messages=HELLO, max_tokens=99) as stream:
        return stream.get_final_message().stop_reason is not None


class InBand(Exception):
    """A failure event of the Responses API, for which the SDK raises nothing."""


REQUESTS: tuple[Callable[[Sdks, str], bool], ...] = (
    chat_whole,
    chat_streamed,
    responses_whole,
    responses_streamed,
    messages_whole,
    messages_streamed,
)


@pytest.mark.parametrize("request_with", REQUESTS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_an_sdk_gets_an_answer_or_its_own_exception(
    gateways: Gateways, sdks: dict[str, Sdks], row: Row, request_with: Callable[[Sdks, str], bool]
) -> None:
    expected = row.streamed if request_with.__name__.endswith("streamed") else row.whole
    assert _outcome(sdks[gateways.gateway_for(row.name).root], request_with, model_for(row)) in expected


def _outcome(sdks: Sdks, request_with: Callable[[Sdks, str], bool], model: str) -> Outcome:
    try:
        return OK if request_with(sdks, model) else "no end marker"
    except (openai.APIStatusError, anthropic.APIStatusError) as error:
        # Anthropic's SDK raises the same class for an error event, with the status of the stream.
        return IN_BAND_ERROR if error.status_code == 200 else error.status_code
    except (openai.APIError, anthropic.APIError, InBand):
        return IN_BAND_ERROR
