"""The simulated vendor without its sockets: one request in, the plan of one response out.

`Vendor.answer` decides; `sim/server.py` writes what was planned, broken bytes included.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from moongate.payload import JsonObject, dumps, dumps_text, object_of
from moongate.sim.answer import deltas, finish_reason, whole_message
from moongate.sim.behaviours import Behaviour, UnknownModel, behaviour_of, listed_models
from moongate.sim.framing import content_type, framed
from moongate.sim.script import Turn, choices_asked, next_turn
from moongate.sim.strict import strict_refusal
from moongate.sim.walls import wall

CREATED: Final = 1_700_000_000  # answers are the same on every run
MAX_REMEMBERED: Final = 4096  # requests whose first try has failed
MAX_SEEN: Final = 1000

# fault → (status, type, message, headers)
REFUSALS: Final[dict[str, tuple[int, str, str, tuple[tuple[str, str], ...]]]] = {
    "429": (429, "rate_limit_reached_error", "request reached max RPM: 3, please try again after 1 seconds", ()),
    "quota": (429, "exceeded_current_quota_error", "You exceeded your current token quota", ()),
    "overloaded": (429, "engine_overloaded_error", "The engine is currently overloaded, please try again later", ()),
    "500": (500, "server_error", "The server had an error while processing your request", ()),
}


@dataclass(frozen=True, slots=True)
class Request:
    """What came in. `path` is without the query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """What goes out, piece by piece. `ending` says how: end, cut, chunk, stall (see server.py)."""

    status: int
    headers: tuple[tuple[str, str], ...]
    pieces: Sequence[bytes]
    chunked: bool = False
    pause: float = 0.0
    ending: str = "end"


@dataclass(slots=True)
class Vendor:
    """One simulated vendor. `play` holds rows that are true of every request, such as `strict-walls`."""

    play: str = ""
    seen: deque[tuple[Request, JsonObject]] = field(default_factory=lambda: deque(maxlen=MAX_SEEN))
    failed_once: OrderedDict[bytes, None] = field(default_factory=OrderedDict)

    def answer(self, request: Request) -> Response:
        """The plan of the response. Never raises."""
        if request.path.endswith("/models"):
            return _document(200, _models())
        if request.path in ("/", "/health"):
            return _document(200, {"status": "ok"})
        if not request.path.endswith("/chat/completions"):
            return _refused(404, f"no such path: {request.path}")
        if request.method != "POST":
            return _refused(405, "use POST")
        body = object_of(request.body)
        if body is None:
            return _refused(400, "the body is not a JSON object")
        self.seen.append((request, body))
        try:
            behaviour = behaviour_of(str(body.get("model", "")), self._rows(request))
        except UnknownModel as unknown:
            return _refused(404, str(unknown), "resource_not_found_error")
        return self._play(request, body, behaviour)

    def _rows(self, request: Request) -> str:
        """The rows asked for beside the model's name: at start, in the path, in the header `x-sim`."""
        path = [part for part in request.path.split("/")[1:-2] if part not in ("v1", "api")]
        return "-".join([self.play, *path, request.headers.get("x-sim", "").replace(",", "-").replace(" ", "")])

    def _play(self, request: Request, body: JsonObject, behaviour: Behaviour) -> Response:
        fault = behaviour.fault
        if fault.endswith("-once"):
            fault = fault.removesuffix("-once") if self._first_try(request) else ""
        if fault in REFUSALS:
            status, kind, message, headers = REFUSALS[fault]
            return _refused(status, message, kind, headers)
        refusal = _invalid(body)
        if refusal is None and behaviour.walls:
            refusal = wall(body, behaviour)
        if refusal is None and behaviour.strict:
            refusal = strict_refusal(body, behaviour)
        if refusal is not None:
            return _refused(400, refusal)
        asked = body.get("stream") is True
        streams = {"document": False, "stream": True}.get(behaviour.shape, asked)
        return _stream(body, behaviour) if streams else _whole(body, behaviour)

    def _first_try(self, request: Request) -> bool:
        key = hashlib.sha256(request.path.encode() + b"\0" + request.body).digest()
        if key in self.failed_once:
            return False
        self.failed_once[key] = None
        if len(self.failed_once) > MAX_REMEMBERED:
            self.failed_once.popitem(last=False)
        return True


def _invalid(body: JsonObject) -> str | None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages must be a non-empty list"
    if not all(isinstance(message, dict) for message in messages):
        return "messages must hold objects"
    return None


def _whole(body: JsonObject, behaviour: Behaviour) -> Response:
    turns = [next_turn(body, behaviour, choice) for choice in range(choices_asked(body))]
    choices: list[JsonObject] = [
        {"index": n, "message": whole_message(turn, behaviour), "finish_reason": finish_reason(turn, behaviour)}
        for n, turn in enumerate(turns)
    ]
    answer = _envelope(body, "chat.completion") | {"choices": choices}
    usage = _usage(body, turns, behaviour.host)
    if behaviour.usage == "choices":
        choices[0]["usage"] = usage
    else:
        answer["usage"] = usage
    data = dumps(answer)
    if behaviour.fault == "error":
        return _refused(500, REFUSALS["500"][2], REFUSALS["500"][1])
    broken = behaviour.fault in ("cut", "chunk", "stall")
    pieces = [data[: len(data) // 2]] if broken else [data]
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    chunked = behaviour.fault == "chunk"
    if not chunked:
        headers = (*headers, ("content-length", str(len(data))))
    return Response(200, headers, pieces, chunked, behaviour.pause, behaviour.fault or "end")


def _stream(body: JsonObject, behaviour: Behaviour) -> Response:
    pieces = framed(list(_chunks(body, behaviour)), behaviour.framing, done=behaviour.done)
    ending = "end"
    if behaviour.fault in ("cut", "chunk", "stall", "error"):
        pieces = pieces[: max(2, len(pieces) // 2)]
        ending = behaviour.fault
    if ending == "error":
        status, kind, message, _ = REFUSALS["500"]
        pieces.append(b"data: " + dumps({"error": {"message": message, "type": kind, "code": status}}) + b"\n\n")
        ending = "end"
    headers = (("content-type", content_type(behaviour.framing)), ("cache-control", "no-cache"))
    return Response(200, headers, pieces, True, behaviour.pause, ending)


def _chunks(body: JsonObject, behaviour: Behaviour) -> Iterator[JsonObject]:
    """All chunks; those of several choices take turns."""
    envelope = _envelope(body, "chat.completion.chunk")
    turns = [next_turn(body, behaviour, choice) for choice in range(choices_asked(body))]
    streams: list[Iterator[JsonObject] | None] = [deltas(turn, behaviour) for turn in turns]
    usage = _usage(body, turns, behaviour.host)
    while any(stream is not None for stream in streams):
        for n, stream in enumerate(streams):
            if stream is None:
                continue
            delta = next(stream, None)
            choice: JsonObject = {"index": n, "delta": delta or {}, "finish_reason": None}
            if delta is None:
                streams[n] = None
                choice["finish_reason"] = finish_reason(turns[n], behaviour)
                if behaviour.usage == "choices":
                    choice["usage"] = usage
            yield envelope | {"choices": [choice]}
    options = body.get("stream_options")
    if behaviour.usage == "asked" and isinstance(options, dict) and options.get("include_usage"):
        yield envelope | {"choices": [], "usage": usage}


def _envelope(body: JsonObject, kind: str) -> JsonObject:
    mark = hashlib.sha256(dumps(body.get("messages"))).hexdigest()[:16]
    return {"id": f"chatcmpl-{mark}", "object": kind, "created": CREATED, "model": body.get("model")}


def _usage(body: JsonObject, turns: Sequence[Turn], host: str) -> JsonObject:
    """Counts that are plausible and always the same: four characters a token."""
    prompt = max(1, len(dumps(body.get("messages"))) // 4)
    made = sum(len(t.text) + len(t.reasoning) + sum(len(c.arguments) for c in t.calls) for t in turns)
    completion = max(1, made // 4)
    cached = {"cached_tokens": prompt // 2}
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        # Moonshot puts it directly into usage, the others where OpenAI does.
        **(cached if host == "moonshot" else {"prompt_tokens_details": cached}),
    }


def _models() -> JsonObject:
    rows: list[Any] = [
        {"id": name, "object": "model", "created": CREATED, "owned_by": "simulator"} for name in listed_models()
    ]
    return {"object": "list", "data": rows}


def _document(status: int, body: JsonObject, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    data = dumps(body)
    return Response(
        status, (("content-type", "application/json"), ("content-length", str(len(data))), *headers), [data]
    )


def _refused(
    status: int, message: str, kind: str = "invalid_request_error", headers: tuple[tuple[str, str], ...] = ()
) -> Response:
    trace = hashlib.sha256(dumps_text(message).encode()).hexdigest()[:16]
    return _document(status, {"error": {"message": message, "type": kind}}, (("x-trace-id", trace), *headers))
