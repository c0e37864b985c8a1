"""The transports with the openai SDK against the simulator: every misbehaviour, every way to ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import openai
import pytest
from pydantic import BaseModel
from tests.support.background import Background
from tests.support.length import by_length
from tests.support.loops import EXPECTED_CALLS, TOOLS
from tests.support.misbehaviours import ANSWERED, FIRST

from moongate import sim
from moongate.httpx import AnswerReport, AsyncKimiTransport, KimiTransport
from moongate.sim import SimServer, model_name

OFFERED: list[Any] = [{"type": "function", "function": {"name": t.name, "parameters": t.parameters}} for t in TOOLS]
Ask = Callable[[str, list[Any]], Any]


@pytest.fixture(scope="module")
def simulator() -> Iterator[SimServer]:
    with Background() as background:
        yield background.start(sim.start(play="strict"))


def client_of(simulator: SimServer, **more: Any) -> openai.OpenAI:
    http = httpx2.Client(transport=KimiTransport(**more), timeout=60)
    return openai.OpenAI(base_url=simulator.url, api_key="key", max_retries=0, http_client=http)


def async_client_of(simulator: SimServer, **more: Any) -> openai.AsyncOpenAI:
    http = httpx2.AsyncClient(transport=AsyncKimiTransport(**more), timeout=60)
    return openai.AsyncOpenAI(base_url=simulator.url, api_key="key", max_retries=0, http_client=http)


def whole(client: openai.OpenAI, model: str, messages: list[Any]) -> Any:
    return client.chat.completions.create(model=model, messages=messages, tools=OFFERED)


def streamed(client: openai.OpenAI, model: str, messages: list[Any]) -> Any:
    with client.chat.completions.stream(model=model, messages=messages, tools=OFFERED) as stream:
        return stream.get_final_completion()


async def async_whole(client: openai.AsyncOpenAI, model: str, messages: list[Any]) -> Any:
    return await client.chat.completions.create(model=model, messages=messages, tools=OFFERED)


async def async_streamed(client: openai.AsyncOpenAI, model: str, messages: list[Any]) -> Any:
    async with client.chat.completions.stream(model=model, messages=messages, tools=OFFERED) as stream:
        return await stream.get_final_completion()


WAYS: dict[str, Callable[..., Any]] = {
    "whole": whole,
    "stream": streamed,
    "async-whole": async_whole,
    "async-stream": async_streamed,
}
THOROUGH = ("stream", "async-whole")  # the ways share one flow


def loop(ask: Ask, model: str) -> None:
    """The three-call task: one call, two calls, a text."""
    messages: list[Any] = [{"role": "user", "content": "Use the tools."}]
    seen: list[tuple[str, Any]] = []
    for expected in (1, 2, 0):
        choice = ask(model, messages).choices[0]
        calls = choice.message.tool_calls or []
        assert len(calls) == expected
        assert choice.finish_reason == ("tool_calls" if calls else "stop")
        messages.append(choice.message.model_dump(exclude_none=True))
        for call in calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": f"result {len(seen)}"})
            seen.append((call.function.name, json.loads(call.function.arguments)))
    assert seen == list(EXPECTED_CALLS)
    text = choice.message.content
    assert [part.rpartition(" -> ")[2] for part in text.split("; ")] == ["result 0", "result 1", "result 2"]
    assert "<|" not in text


@pytest.mark.parametrize("way", WAYS)
def test_a_loop_through_each_misbehaviour_ends_well(simulator: SimServer, way: str) -> None:
    failed = {}
    with asyncio.Runner() as runner:
        asking = WAYS[way]
        if way.startswith("async"):
            client = async_client_of(simulator)
            ask: Ask = lambda model, messages: runner.run(asking(client, model, messages))  # noqa: E731
        else:
            blocking = client_of(simulator)
            ask = lambda model, messages: asking(blocking, model, messages)  # noqa: E731
        for family, row in ANSWERED if way in THOROUGH else by_length(ANSWERED[::4], ANSWERED):
            try:
                loop(ask, model_name(FIRST[family], row))
            except (AssertionError, openai.OpenAIError) as error:
                failed[family, row] = repr(error)
        runner.run(client.close()) if way.startswith("async") else blocking.close()
    assert failed == {}


class Weather(BaseModel):
    city: str


def test_parse_gives_the_arguments_as_a_model(simulator: SimServer) -> None:
    tool = openai.pydantic_function_tool(Weather, name="get_weather")
    with client_of(simulator) as client:
        answer = client.chat.completions.parse(
            model=model_name("k2.5", "markers"),
            messages=[{"role": "user", "content": "Use the tools."}],
            tools=[tool],
        )
    (call,) = answer.choices[0].message.tool_calls or []
    assert call.function.parsed_arguments == Weather(city="city 0")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_notes_and_verdict_are_in_the_response_and_told_to_the_callback(simulator: SimServer, stream: bool) -> None:
    reports: list[AnswerReport] = []
    body = {
        "model": model_name("k2.5", "markers"),
        "messages": [{"role": "user", "content": "Use the tools."}],
        "tools": OFFERED,
        "stream": stream,
    }
    with httpx2.Client(transport=KimiTransport(on_answer=reports.append), timeout=60) as client:
        with client.stream("POST", f"{simulator.url}/chat/completions", json=body) as response:
            report = response.extensions["moongate"]
            assert (report.verdict.worth, reports) == (("aborted", []) if stream else ("repaired", [report]))
            response.read()
        assert reports == [report]
    assert report.verdict.worth == "repaired"
    assert "markers_parsed" in [note.kind for note in report.notes]
    assert (report.model, report.requests) == (body["model"], 1)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_the_guard_asks_again(simulator: SimServer, stream: bool) -> None:
    reports: list[AnswerReport] = []
    model = model_name("k2", "valid-0-empty-turns-second-try")
    with client_of(simulator, options={"preset": "strict"}, on_answer=reports.append) as client:
        answer = (streamed if stream else whole)(client, model, [{"role": "user", "content": f"Go. {stream}"}])
    assert answer.choices[0].message.tool_calls
    (report,) = reports
    assert report.requests == 2
    assert report.verdict.worth in ("clean", "repaired")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_a_refusal_is_answered_and_remembered_by_its_transport(simulator: SimServer, stream: bool) -> None:
    reports: list[AnswerReport] = []
    model = model_name("k2.5", f"fixed-sampling-{'crlf' if stream else 'no-done'}")
    for _transport in range(2):
        with client_of(simulator, options={"family": "k2"}, on_answer=reports.append) as client:
            for _request in range(2):
                answer = client.chat.completions.create(
                    model=model, messages=[{"role": "user", "content": "Hi"}], temperature=0.25, stream=stream
                )
                list(answer)
    assert [report.requests for report in reports] == [2, 1, 2, 1]
    assert [[note.after for note in report.learned] for report in reports] == [["sampling"], [], ["sampling"], []]


def test_a_refusal_without_a_rule_comes_as_it_is(simulator: SimServer) -> None:
    reports: list[AnswerReport] = []
    with (
        client_of(simulator, options={"learnFromRefusals": False, "family": "k2"}, on_answer=reports.append) as client,
        pytest.raises(openai.BadRequestError, match="only 1 is allowed") as refused,
    ):
        client.chat.completions.create(
            model=model_name("k2.5", "fixed-sampling"), messages=[{"role": "user", "content": "Hi"}], temperature=0.25
        )
    assert refused.value.response.extensions["moongate"] is reports[0]
    assert reports[0].verdict.worth == "aborted"


@pytest.mark.parametrize(
    ("row", "error"),
    [("429", openai.RateLimitError), ("500", openai.InternalServerError), ("quota", openai.RateLimitError)],
)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_errors_of_the_provider_stay_what_they_are(
    simulator: SimServer, row: str, error: type[Exception], stream: bool
) -> None:
    with client_of(simulator) as client, pytest.raises(error):
        client.chat.completions.create(
            model=model_name("k2.5", row), messages=[{"role": "user", "content": "Hi"}], stream=stream
        )


@pytest.mark.parametrize("row", ["broken", "broken-chunk", "error-mid"])
def test_a_stream_that_breaks_never_ends_like_a_complete_answer(simulator: SimServer, row: str) -> None:
    reports: list[AnswerReport] = []
    with client_of(simulator, on_answer=reports.append) as client:
        stream = client.chat.completions.create(
            model=model_name("k2.5", row), messages=[{"role": "user", "content": "Hi"}], stream=True
        )
        with pytest.raises((openai.APIError, httpx2.HTTPError)):
            list(stream)
    assert [report.verdict.worth for report in reports] == ["failed"]


def test_a_stream_that_is_left_closes_its_connection(simulator: SimServer) -> None:
    reports: list[AnswerReport] = []
    inner = httpx2.HTTPTransport()
    http = httpx2.Client(transport=KimiTransport(inner, on_answer=reports.append), timeout=60)
    client = openai.OpenAI(base_url=simulator.url, api_key="key", max_retries=0, http_client=http)
    stream = client.chat.completions.create(
        model=model_name("k2.5", "stalled"), messages=[{"role": "user", "content": "Hi"}], stream=True
    )
    next(iter(stream))
    stream.close()
    assert [report.verdict.worth for report in reports] == ["aborted"]
    assert inner._pool.connections == []
    client.close()


def test_a_task_that_is_cancelled_closes_its_connection(simulator: SimServer) -> None:
    async def run() -> None:
        inner, begun = httpx2.AsyncHTTPTransport(), asyncio.Event()
        http = httpx2.AsyncClient(transport=AsyncKimiTransport(inner), timeout=60)
        client = openai.AsyncOpenAI(base_url=simulator.url, api_key="key", max_retries=0, http_client=http)

        async def read() -> None:
            stream = await client.chat.completions.create(
                model=model_name("k2.5", "stalled"), messages=[{"role": "user", "content": "Hi"}], stream=True
            )
            async for _chunk in stream:
                begun.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert inner._pool.connections == []
        await client.close()

    asyncio.run(run())


def test_a_stream_can_be_closed_while_another_task_reads_it(simulator: SimServer) -> None:
    """As an agent that is interrupted does."""

    async def run() -> None:
        told: list[AnswerReport] = []
        client, begun = async_client_of(simulator, on_answer=told.append), asyncio.Event()
        stream = await client.chat.completions.create(
            model=model_name("k2.5", "stalled"), messages=[{"role": "user", "content": "Hi"}], stream=True
        )

        async def read() -> None:
            async for _chunk in stream:
                begun.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), 60)
        await asyncio.sleep(0)
        await stream.close()
        with pytest.raises((openai.APIError, httpx2.HTTPError)):
            await asyncio.wait_for(task, 30)
        assert len(told) == 1
        await client.close()

    asyncio.run(run())


def test_a_wrong_request_is_the_clients_fault(simulator: SimServer) -> None:
    messages: list[Any] = [{"role": "tool", "content": "12:00"}]
    with (
        client_of(simulator) as client,
        pytest.raises(openai.BadRequestError, match=r"messages\[0\].tool_call_id"),
    ):
        client.chat.completions.create(model=model_name("k2.5"), messages=messages)


def test_a_request_may_be_of_a_class_of_the_clients_own(simulator: SimServer) -> None:
    class Signed(httpx2.Request):
        pass

    with httpx2.Client(transport=KimiTransport(), timeout=60) as http:
        body = {"model": model_name("k2", "markers"), "messages": [{"role": "user", "content": "x"}], "tools": OFFERED}
        response = http.send(Signed("POST", f"{simulator.url}/chat/completions", json=body))
        assert response.json()["choices"][0]["finish_reason"] == "tool_calls"


def test_other_requests_pass_untouched(simulator: SimServer) -> None:
    with client_of(simulator) as client:
        assert list(client.models.list())
