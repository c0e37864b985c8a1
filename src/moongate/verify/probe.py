"""A few short requests that tell whether a target works: key, model, tool calls whole and streamed, a tool loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from moongate.chat.contracts import Note
from moongate.errors import GatewayError
from moongate.kimi.guard.tool_schemas import ToolSchemas
from moongate.payload import JsonObject, dumps, object_of
from moongate.pipeline.learned_rules import LearnedRules
from moongate.prices.tokens import counts_of, estimated_prompt
from moongate.verify.answer_view import AnswerView, view
from moongate.verify.client import VendorAnswer, VendorClient
from moongate.verify.observation import call_fault, offered_parameters

MAX_TOKENS: Final = 512  # of one answer; reasoning counts
TOOL: Final[JsonObject] = {
    "type": "function",
    "function": {
        "name": "read_gauge",
        "description": "Read the water level of a river gauge, in centimetres.",
        "parameters": {
            "type": "object",
            "properties": {"gauge": {"type": "string", "description": "name of the gauge"}},
            "required": ["gauge"],
        },
    },
}
QUESTION: Final[JsonObject] = {"role": "user", "content": "Use the tool: how high is the water at gauge Dresden now?"}
REQUESTS: Final = 4  # two first turns, and a loop of two


@dataclass(frozen=True, slots=True)
class ProbeStep:
    """One question to a target. `detail` says what is wrong, or what came."""

    name: str
    ok: bool
    detail: str = ""
    first_byte_ms: int | None = None


@dataclass(slots=True)
class ProbeReport:
    """What is known of a target after all steps."""

    target: str
    steps: list[ProbeStep] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    learned: list[str] = field(default_factory=list)
    tokens: int = 0
    tokens_without_usage: int = 0  # of answers that say none, by their size

    @property
    def verdict(self) -> str:
        if not all(step.ok for step in self.steps):
            return "fails"
        return "works, with repairs" if self.repairs or self.learned else "works"


def estimated_tokens(model: str) -> int:
    """The most that `probe` spends on a target, as far as it can be known before."""
    size = len(dumps(_first(model, streamed=True)))
    return REQUESTS * (estimated_prompt(2 * size) + MAX_TOKENS)


async def probe(client: VendorClient, further: Sequence[VendorClient] = ()) -> ProbeReport:
    """Ask everything. A target that refuses is asked nothing further. `further`: the same with its other keys, of
    which only that they are taken is asked."""
    return await Probe(client, further).run()


class Probe:
    """Of a vendor of chat completions."""

    def __init__(self, client: VendorClient, further: Sequence[VendorClient]) -> None:
        self._client, self._further = client, further
        self._refused = False
        self._model = client.target.model
        self._learned = LearnedRules(client.target.chain)
        self._schemas = ToolSchemas()
        self.report = ProbeReport(client.target.name)

    async def run(self) -> ProbeReport:
        await self._list()
        for number, client in enumerate(self._further, 2):
            answer = await client.models()
            self.report.steps.append(ProbeStep(f"key {number}", *_key(answer)))
        if not self.report.steps[0].ok:
            return self.report
        await self._first_turn("whole tool call", streamed=False)
        if not self._refused:
            await self._first_turn("streamed tool call", streamed=True)
        if not self._refused:
            await self._loop()
        return self.report

    async def _first_turn(self, name: str, *, streamed: bool) -> None:
        await self._turn(name, _first(self._model, streamed=streamed))

    async def _list(self) -> None:
        """Key and model, as far as `GET /models` tells; a vendor without that page is asked by the first turn."""
        answer = await self._client.models()
        steps = self.report.steps
        if answer.unreachable:
            steps.append(ProbeStep("reachable", False, _said(answer)))
            return
        steps.append(ProbeStep("key", *_key(answer)))
        if not steps[0].ok:
            return
        listed = (object_of(answer.body) or {}).get("data") if answer.status == 200 else None
        names = {each.get("id") for each in listed if isinstance(each, dict)} if isinstance(listed, list) else set()
        steps.append(ProbeStep("model", True, "listed" if self._model in names else "not listed by GET /models"))

    async def _turn(self, name: str, request: JsonObject, *, call_wanted: bool = True) -> JsonObject | None:
        """The message that a client gets, if it is as it should be."""
        try:
            asked = await self._client.ask_repaired(self._learned, request)
        except GatewayError as error:
            self._refused = True
            return self._failed(name, f"the chain refuses the request: {error}")
        answer = asked.answer
        self.report.learned += [str(note.after) for note in asked.learned]
        if answer.status != 200:
            self._refuse(name, answer)
            return None
        seen = view(asked.exchange, answer.body, answer.content_type, streamed=request.get("stream") is True)
        self._count(seen.notes, seen.usage, asked.exchange.request, seen.completion)
        message = _message(seen)
        wrong = self._wrong(seen, message, request, call_wanted=call_wanted)
        if wrong or message is None:
            return self._failed(name, wrong)
        first = round(answer.first_byte * 1000)
        self.report.steps.append(ProbeStep(name, True, seen.verdict.worth, first))
        return message

    async def _loop(self) -> None:
        """A tool call and its result; the second answer may be a text or a further call."""
        request = _first(self._model, streamed=True)
        message = await self._turn("tool loop, first turn", request)
        if message is None:
            return
        results = [
            {"role": "tool", "tool_call_id": call.get("id"), "content": '{"centimetres": 214}'}
            for call in message["tool_calls"]
        ]
        history = [*request["messages"], message, *results]
        await self._turn("tool loop, second turn", {**request, "messages": history}, call_wanted=False)

    def _wrong(self, seen: AnswerView, message: JsonObject | None, request: JsonObject, *, call_wanted: bool) -> str:
        if message is None:
            return seen.error
        calls = message.get("tool_calls") or []
        if call_wanted and not calls:
            return "it made no call"
        offered = offered_parameters(request)
        faults = [fault for call in calls if (fault := call_fault(call, offered, self._schemas))]
        return ", ".join([f"{fault.kind} ({fault.detail})" for fault in faults] or seen.verdict.kinds)

    def _count(
        self, notes: Sequence[Note], usage: JsonObject | None, request: JsonObject, answer: JsonObject | None
    ) -> None:
        self.report.repairs.update(note.kind for note in vendor_repairs(notes))
        counts = counts_of(usage)
        if counts is not None:
            self.report.tokens += counts.total
        elif answer is not None:
            sizes = (len(dumps(each)) for each in (request, answer))
            self.report.tokens_without_usage += sum(map(estimated_prompt, sizes))

    def _refuse(self, name: str, answer: VendorAnswer) -> None:
        self._refused = True
        what = {401: "the key is refused: ", 403: "the key is refused: ", 404: "no such model or path: "}
        self.report.steps.append(ProbeStep(name, False, what.get(answer.status, "") + _said(answer)))

    def _failed(self, name: str, detail: str) -> JsonObject | None:
        self.report.steps.append(ProbeStep(name, False, detail))
        return None


def vendor_repairs(notes: Sequence[Note]) -> list[Note]:
    """The notes of repairs of the vendor's mistakes; a note that only reports markers repairs nothing."""
    return [note for note in notes if note.mends == "vendor" and note.kind not in ("markers_seen", "empty_turn")]


def _first(model: str, *, streamed: bool) -> JsonObject:
    request: JsonObject = {"model": model, "messages": [QUESTION], "tools": [TOOL], "max_tokens": MAX_TOKENS}
    if streamed:
        request |= {"stream": True, "stream_options": {"include_usage": True}}
    return request


def _message(seen: AnswerView) -> JsonObject | None:
    choices = (seen.completion or {}).get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    message = first.get("message") if isinstance(first, dict) else None
    return message if isinstance(message, dict) else None


def _key(answer: VendorAnswer) -> tuple[bool, str]:
    """Whether the key is taken, as far as GET /models tells."""
    if answer.unreachable or answer.status in (401, 403):
        return False, _said(answer)
    return True, "accepted" if answer.status == 200 else "not told by GET /models"


def _said(answer: VendorAnswer) -> str:
    if answer.refusal is None:
        return f"status {answer.status}"
    return f"{answer.refusal.message}" + (f" (status {answer.status})" if answer.status else "")
