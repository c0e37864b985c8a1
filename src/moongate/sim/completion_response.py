"""A completion as a response to write: one JSON document, or the chunks of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from moongate.payload import JsonObject, dumps
from moongate.sim.behaviours import Behaviour
from moongate.sim.completion import completion_message, deltas, finish_reason
from moongate.sim.conversation import SimAnswer
from moongate.sim.framing import content_type, framed
from moongate.sim.ledger import LedgerEntry
from moongate.sim.responses import ERRORS, SimResponse

CREATED: Final = 1_700_000_000  # constant, so that answers are the same on every run


@dataclass(frozen=True, slots=True)
class SimCompletion:
    """Everything that a response is written from."""

    request: JsonObject
    behaviour: Behaviour
    answers: tuple[SimAnswer, ...]
    usage: JsonObject
    entry: LedgerEntry

    def envelope(self, kind: str) -> JsonObject:
        model = self.request.get("model")
        return {"id": self.entry.id, "object": kind, "created": CREATED, "model": model}


def whole_response(completion: SimCompletion) -> SimResponse:
    behaviour = completion.behaviour
    choices: list[JsonObject] = [
        {
            "index": n,
            "message": completion_message(answer, behaviour),
            "finish_reason": finish_reason(answer, behaviour),
        }
        for n, answer in enumerate(completion.answers)
    ]
    document = completion.envelope("chat.completion") | {"choices": choices}
    (choices[0] if behaviour.usage == "choices" else document)["usage"] = completion.usage
    data = dumps(document)
    broken = behaviour.fault in ("cut", "chunk", "stall")
    chunked = behaviour.fault == "chunk"
    length = () if chunked else (("content-length", str(len(data))),)
    return SimResponse(
        200,
        (("content-type", "application/json"), *length, ("x-trace-id", completion.entry.trace)),
        [data[: len(data) // 2]] if broken else [data],
        chunked,
        behaviour.pause,
        behaviour.fault or "end",
        {0: behaviour.silence} if behaviour.silence else {},
        completion.entry,
    )


def streamed_response(completion: SimCompletion) -> SimResponse:
    behaviour = completion.behaviour
    chunks = list(_chunks(completion))
    silent = next((n for n, chunk in enumerate(chunks) if behaviour.silence and _has_arguments(chunk)), 0)
    before = framed(chunks[:silent], behaviour.framing, done=False) if silent else []
    pieces = before + framed(chunks[silent:], behaviour.framing, done=behaviour.done)
    ending = "end"
    if behaviour.fault in ("cut", "chunk", "stall", "error"):
        pieces = pieces[: max(2, len(pieces) // 2)]
        ending = behaviour.fault
    if ending == "error":
        status, kind, message = ERRORS["500"]
        pieces.append(b"data: " + dumps({"error": {"message": message, "type": kind, "code": status}}) + b"\n\n")
        ending = "end"
    headers = (
        ("content-type", content_type(behaviour.framing)),
        ("cache-control", "no-cache"),
        ("x-trace-id", completion.entry.trace),
    )
    silences = {len(before): behaviour.silence} if before else {}
    return SimResponse(200, headers, pieces, True, behaviour.pause, ending, silences, completion.entry)


def _has_arguments(chunk: JsonObject) -> bool:
    calls = [call for choice in chunk["choices"] for call in choice["delta"].get("tool_calls") or []]
    return any((call.get("function") or call.get("custom") or {}).get("arguments") for call in calls)


def _chunks(completion: SimCompletion) -> Iterator[JsonObject]:
    """All chunks; those of several choices alternate."""
    behaviour, answers = completion.behaviour, completion.answers
    envelope = completion.envelope("chat.completion.chunk")
    streams: list[Iterator[JsonObject] | None] = [deltas(answer, behaviour) for answer in answers]
    in_choices = behaviour.usage == "choices" or behaviour.host == "moonshot"
    while any(stream is not None for stream in streams):
        for n, stream in enumerate(streams):
            if stream is None:
                continue
            delta = next(stream, None)
            choice: JsonObject = {"index": n, "delta": delta or {}, "finish_reason": None}
            if delta is None:
                streams[n] = None
                choice["finish_reason"] = finish_reason(answers[n], behaviour)
                if in_choices:
                    choice["usage"] = completion.usage
            yield envelope | {"choices": [choice]}
    if behaviour.usage == "as requested" and _asks_for_usage(completion.request):
        yield envelope | {"choices": [], "usage": completion.usage}


def _asks_for_usage(request: JsonObject) -> bool:
    options = request.get("stream_options")
    return isinstance(options, dict) and bool(options.get("include_usage"))


def tells_usage(completion: SimCompletion) -> bool:
    """Whether a stream says what it cost: if asked to, or always, as Moonshot does."""
    behaviour = completion.behaviour
    return behaviour.usage == "choices" or behaviour.host == "moonshot" or _asks_for_usage(completion.request)
