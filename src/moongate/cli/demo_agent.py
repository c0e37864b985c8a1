"""A small agent and its provider, for `moongate demo`: the simulator without sockets, with and without the chain."""

from __future__ import annotations

from dataclasses import dataclass, field

from moongate import KimiTransformer, Session
from moongate.payload import JsonObject, dumps, object_of
from moongate.sim.responses import SimRequest
from moongate.sim.vendor import Vendor

HOST = "https://api.moonshot.ai/v1"  # whose rules the simulator plays
TOOL: JsonObject = {
    "type": "function",
    "function": {
        "name": "weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "enum": ["Beijing"]}}},
    },
}


@dataclass(slots=True)
class StreamedAnswer:
    """One answer, put together from its events as a client of the OpenAI SDK does it."""

    status: int = 200
    error: str = ""
    content: str = ""
    finish: str | None = None
    pieces: list[str] = field(default_factory=list)  # of the content, as they came
    calls: list[JsonObject] = field(default_factory=list)

    @classmethod
    def read(cls, status: int, data: bytes) -> StreamedAnswer:
        found = cls(status)
        if status != 200:
            body = object_of(data) or {}
            found.error = str(body["error"]["message"])
            return found
        for line in data.split(b"\n"):
            event = object_of(line.removeprefix(b"data: ")) if line.startswith(b"data: {") else None
            for choice in (event or {}).get("choices", ()):
                found._add(choice)
        return found

    def _add(self, choice: JsonObject) -> None:
        delta = choice.get("delta") or {}
        if delta.get("content"):
            self.pieces.append(delta["content"])
            self.content += delta["content"]
        for call in delta.get("tool_calls") or ():
            if call["index"] == len(self.calls):
                self.calls.append({"id": call["id"], "type": "function", "function": {"arguments": ""}})
            function = self.calls[call["index"]]["function"]
            given = call["function"]
            function["arguments"] += given.get("arguments") or ""
            function["name"] = given.get("name") or function.get("name")
        self.finish = choice.get("finish_reason") or self.finish

    def message(self) -> JsonObject:
        """The answer as most agents put it into their history: without the reasoning."""
        return {"role": "assistant", "content": self.content, "tool_calls": self.calls}


@dataclass(frozen=True, slots=True)
class Turn:
    """One request as the provider got it, and the answer as the client got it."""

    request: JsonObject
    answer: StreamedAnswer


def ask(model: str, messages: list[JsonObject], *, repaired: bool, **more: object) -> Turn:
    """Send a streamed request to the simulator, through the chain of `preset: "agent"` or directly."""
    request: JsonObject = {"model": model, "messages": messages, "tools": [TOOL], "stream": True, **more}
    exchange = None
    if repaired:
        kimi = KimiTransformer.from_config({"preset": "agent"}, model=model, base_url=HOST)
        exchange = kimi.begin(request)
        request = exchange.request
    response = Vendor().answer(SimRequest("POST", "/v1/chat/completions", {}, dumps(request)))
    data = b"".join(response.pieces)
    if exchange is not None and response.status == 200:
        session = Session(exchange, "text/event-stream")
        data = b"".join(map(session.feed, response.pieces)) + session.close()
    return Turn(request, StreamedAnswer.read(response.status, data))
