"""The simulated vendor without sockets: one request in, the description of one response out.

`Vendor.answer` decides what to send; `sim/server.py` writes it, malformed bytes included.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs

from moongate.payload import JsonObject, dumps, object_of
from moongate.sim.behaviours import Behaviour, UnknownModel, behaviour_of, listed_models
from moongate.sim.completion import limited
from moongate.sim.completion_response import CREATED, SimCompletion, streamed_response, tells_usage, whole_response
from moongate.sim.conversation import choice_count, for_choice
from moongate.sim.ledger import MAX_ENTRIES, LedgerEntry, SimLedger
from moongate.sim.moonshot_validation import validation_error
from moongate.sim.native_fronts import native_answer, native_dialect
from moongate.sim.responses import ERRORS, SimRequest, SimResponse, error_response, json_response
from moongate.sim.strict import history_error
from moongate.sim.turns import TurnMemory
from moongate.sim.usage import usage_of

MAX_FAILED_ONCE: Final = 4096  # requests whose first try has failed
MAX_SEEN: Final = 1000
LEDGER_PATH: Final = "/sim/ledger"


@dataclass(slots=True)
class Vendor:
    """One simulated vendor. `play` names rows that apply to every request, such as `strict-walls`."""

    play: str = ""
    seen: deque[tuple[SimRequest, JsonObject]] = field(default_factory=lambda: deque(maxlen=MAX_SEEN))
    native: deque[tuple[SimRequest, JsonObject]] = field(default_factory=lambda: deque(maxlen=MAX_SEEN))
    failed_once: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    max_failed_once: int = MAX_FAILED_ONCE
    ledger: SimLedger = field(default_factory=SimLedger)
    turns: TurnMemory = field(default_factory=TurnMemory)

    def answer(self, request: SimRequest) -> SimResponse:
        """The response to write. Never raises."""
        if request.path == LEDGER_PATH:
            return self._ledger(request)
        if request.path.endswith("/models"):
            return json_response(200, _models())
        if request.path in ("/", "/health"):
            return json_response(200, {"status": "ok"})
        dialect = native_dialect(request.path)
        if dialect is None and not request.path.endswith("/chat/completions"):
            return error_response(404, f"no such path: {request.path}")
        if request.method != "POST":
            return error_response(405, "use POST")
        body = object_of(request.body)
        if body is None:
            return error_response(400, "the body is not a JSON object")
        if dialect is not None:
            self.native.append((request, body))
            return native_answer(dialect, request, body, self.answer)
        self.seen.append((request, body))
        entry = self.ledger.open(body.get("model"), request.headers.get("x-session-id", ""))
        try:
            behaviour = behaviour_of(str(body.get("model", "")), *self._rows(request))
        except UnknownModel as unknown:
            return error_response(404, str(unknown), "resource_not_found_error", entry)
        return self._respond(request, body, behaviour, entry)

    def _ledger(self, request: SimRequest) -> SimResponse:
        if request.method == "DELETE":
            self.ledger.clear()
        elif request.method != "GET":
            return error_response(405, "use GET or DELETE")
        asked = {name: values[-1] for name, values in parse_qs(request.query).items()}
        numbers = {name: asked.get(name, default) for name, default in (("after", "0"), ("limit", str(MAX_ENTRIES)))}
        if not all(len(number) < 10 and number.isdecimal() for number in numbers.values()):
            return error_response(400, "after and limit are whole numbers")
        return json_response(200, self.ledger.page(int(numbers["after"]), int(numbers["limit"])))

    def _rows(self, request: SimRequest) -> list[str]:
        """The rows selected outside the model name: at start, in the path, in the header `x-sim`."""
        path = [part for part in request.path.split("/")[1:-2] if part not in ("v1", "api")]
        return [self.play, "-".join(path), request.headers.get("x-sim", "").replace(",", "-").replace(" ", "")]

    def _respond(self, request: SimRequest, body: JsonObject, behaviour: Behaviour, entry: LedgerEntry) -> SimResponse:
        fault = behaviour.fault
        if fault.endswith("-once"):
            fault = fault.removesuffix("-once") if self._first_try(request) else ""
        if fault in ERRORS:
            status, kind, message = ERRORS[fault]
            return error_response(status, message, kind, entry)
        message_error = _messages_error(body) or validation_error(body, behaviour)
        if message_error is None and behaviour.strict:
            message_error = history_error(body, behaviour)
        if message_error is not None:
            return error_response(400, message_error, entry=entry)
        streamed = {"document": False, "stream": True}.get(behaviour.shape, body.get("stream") is True)
        if behaviour.fault == "error" and not streamed:
            return error_response(500, ERRORS["500"][2], ERRORS["500"][1], entry)
        completion = self._complete(body, behaviour, entry)
        entry.stream = streamed
        self.ledger.bill(entry, completion.usage, usage_sent=not streamed or tells_usage(completion))
        return streamed_response(completion) if streamed else whole_response(completion)

    def _complete(self, body: JsonObject, behaviour: Behaviour, entry: LedgerEntry) -> SimCompletion:
        played = self.turns.play(body, behaviour)
        answers = [for_choice(played.answer, number) for number in range(choice_count(body))]
        budget = body.get("max_completion_tokens", body.get("max_tokens"))
        if behaviour.max_tokens and isinstance(budget, int):
            answers = [limited(answer, budget) for answer in answers]
        entry.id = f"chatcmpl-{hashlib.sha256(dumps(body.get('messages'))).hexdigest()[:16]}"
        entry.damage = played.kind
        return SimCompletion(body, played.behaviour, tuple(answers), usage_of(body, answers, behaviour), entry)

    def _first_try(self, request: SimRequest) -> bool:
        key = hashlib.sha256(request.path.encode() + b"\0" + request.body).digest()
        if key in self.failed_once:
            return False
        self.failed_once[key] = None
        if len(self.failed_once) > self.max_failed_once:
            self.failed_once.popitem(last=False)
        return True


def _messages_error(body: JsonObject) -> str | None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages must be a non-empty list"
    if not all(isinstance(message, dict) for message in messages):
        return "messages must hold objects"
    return None


def _models() -> JsonObject:
    models: list[JsonObject] = [
        {"id": name, "object": "model", "created": CREATED, "owned_by": "simulator"} for name in listed_models()
    ]
    return {"object": "list", "data": models}
