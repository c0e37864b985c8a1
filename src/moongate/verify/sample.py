"""One case asked and judged twice: as the answer came, and as the chain makes it.

Both judgements are of the same answer. A second request is sent only where the chain changes what the vendor is asked:
in `multiturn` always (the ids of the history), elsewhere if the vendor refuses the client's own request and the chain
has another form of it. `stream` asks twice, too: streamed and whole.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import UTC, datetime
from time import monotonic
from typing import Final

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Exchange
from moongate.errors import BadRequest
from moongate.kimi.generations import recognise_model
from moongate.payload import JsonObject, dumps, dumps_spaced
from moongate.pipeline.chain import Chain
from moongate.pipeline.learned_rules import LearnedRules
from moongate.prices.summed import summed_usage
from moongate.prices.tokens import TokenCounts, counts_of, estimated_prompt
from moongate.verify.answer_view import AnswerView, view
from moongate.verify.case import PlannedCase, VerifyCase
from moongate.verify.client import RepairedExchange, VendorAnswer, VendorClient
from moongate.verify.judgement import CallCriteria, judged
from moongate.verify.probe import vendor_repairs

OURS: Final = "moongate"  # the key of what Moonshot's verifier does not write


class Sampler:
    """Asks the cases of one run."""

    def __init__(self, client: VendorClient) -> None:
        self._client = client
        self._chain: Chain = client.target.chain.unguarded
        self._learned = LearnedRules(self._chain)
        self.criteria = CallCriteria(recognise_model(client.target.model).family.id_rule)
        self.reached = False  # somebody has answered, and knows key and model
        self.last_failure: VendorAnswer | None = None  # before that
        self.failures = 0  # how many

    async def sample(self, planned: PlannedCase) -> JsonObject:
        """The row of this case."""
        return await _Sample(self, planned).run()

    def begin(self, request: JsonObject) -> Exchange | None:
        """The exchange of the chain with this request; None if it refuses it."""
        try:
            return self._learned.chain(monotonic()).begin(request)
        except BadRequest:
            return None

    def recognises(self, answer: VendorAnswer) -> bool:
        """Whether the chain knows a rule that answers this refusal."""
        refusal = answer.refusal
        return refusal is not None and self._chain.recognise_refusal(refusal.message) is not None

    async def ask(self, request: JsonObject) -> VendorAnswer:
        answer = await self._client.ask(request)
        self.reached = self.reached or not (answer.unreachable or answer.is_rejected)
        if not self.reached:
            self.last_failure, self.failures = answer, self.failures + 1
        return answer

    async def ask_repaired(self, request: JsonObject) -> RepairedExchange:
        return await self._client.ask_repaired(self._learned, request)

    @property
    def model(self) -> str:
        return self._client.target.model

    def cost(self, counts: TokenCounts | None) -> int | None:
        """In millionths of a dollar; None if it is not known."""
        prices = self._client.target.prices
        return None if counts is None or prices is None else prices.cost(counts)


class _Sample:
    def __init__(self, sampler: Sampler, planned: PlannedCase) -> None:
        self._sampler, self._planned = sampler, planned
        self._case: VerifyCase = planned.case
        self._request: JsonObject = {**planned.case.request, "model": sampler.model}
        self._requests = self._retries = 0
        self._usages: list[JsonObject | None] = []
        self._estimate = TokenCounts()  # of answers that have no usage: a budget must end with those, too

    async def run(self) -> JsonObject:
        case, criteria = self._case, self._sampler.criteria
        began = datetime.now(UTC)
        answer = await self._asked(self._request)
        raw = self._viewed(answer)
        whole_raw = whole_left = None
        if case.suite == "stream":
            plain = {k: v for k, v in self._request.items() if k not in ("stream", "stream_options")}
            whole = await self._asked(plain)
            whole_raw = self._viewed(whole, plain)
            whole_left = self._through(whole, plain)
        left_status, left, learned = await self._left(answer)
        repairs = Counter(note.kind for note in vendor_repairs(left.notes)) if left is not None else Counter[str]()
        sides = {
            "raw": judged(case, answer.status, raw, criteria, whole_raw),
            "repaired": judged(case, left_status, left, criteria, whole_left),
        }
        refuses = case.suite == "contract" and case.expect.get("status", 200) != 200
        mended = refuses and answer.status != 200 and left_status == 200
        ours = {
            "suite": case.suite,
            "case": case.name,
            "run": self._planned.run,
            "due": case.due,
            "about": case.why,
            "requests": self._requests,
            "retries": self._retries,
            "first_byte_ms": round(answer.first_byte * 1000),
            **sides,
            "repairs": dict(sorted(repairs.items())),
            "learned": learned,
            "mended": mended,
            "left": _message(left) if left is not None and _message(left) != _message(raw) else None,
            "usage": (usage := summed_usage(self._usages)),
            "cost_micros": self._sampler.cost(counts_of(usage)),
            "estimated": {"tokens": self._estimate.total, "cost_micros": self._sampler.cost(self._estimate)},
        }
        return {**self._k2vv_fields(answer, raw, sides["raw"], began), OURS: ours}

    def _k2vv_fields(
        self, answer: VendorAnswer, raw: AnswerView | None, side: JsonObject, began: datetime
    ) -> JsonObject:
        """The fields that K2-Vendor-Verifier writes."""
        completion = None if raw is None else raw.completion
        said = answer.refusal.message if answer.refusal is not None else "" if raw is None else raw.error
        now = datetime.now(UTC)
        return {
            "data_index": self._planned.index,
            "request": self._request,
            "extra_body": {},
            "response": completion if completion is not None else {"error": said},
            "status": "success" if completion is not None else "failed",
            "finish_reason": side["finish_reason"],
            "tool_calls_valid": side["calls_valid"],
            "last_run_at": now.isoformat(),
            "duration_ms": round((now - began).total_seconds() * 1000),
            "hash": request_hash(self._request),
        }

    async def _asked(self, request: JsonObject) -> VendorAnswer:
        self._requests += 1
        answer = await self._sampler.ask(request)
        self._retries += answer.tries - 1
        return answer

    def _viewed(self, answer: VendorAnswer, request: JsonObject | None = None) -> AnswerView | None:
        """The answer as it came; None if it is none."""
        if answer.status != 200:
            return None
        asked = self._request if request is None else request
        seen = view(BaseExchange(asked), answer.body, answer.content_type, streamed=asked.get("stream") is True)
        self._spend(asked, seen)
        return seen

    def _spend(self, request: JsonObject, seen: AnswerView) -> None:
        """Keep the usage of an answer, or estimate it."""
        self._usages.append(seen.usage)
        if counts_of(seen.usage) is None:
            sizes = (len(dumps(each)) for each in (request, seen.completion))
            self._estimate = self._estimate.plus(*map(estimated_prompt, sizes))

    def _through(self, answer: VendorAnswer, request: JsonObject) -> AnswerView | None:
        """The same answer, as the chain makes it."""
        begun = self._sampler.begin(request)
        if begun is None or answer.status != 200:
            return None
        streamed = request.get("stream") is True
        return view(begun, answer.body, answer.content_type, streamed=streamed)

    async def _left(self, answer: VendorAnswer) -> tuple[int, AnswerView | None, list[str]]:
        """What a client of the gateway gets: status, answer, rules that were learned."""
        begun = self._sampler.begin(self._request)
        if begun is None:
            return 400, None, []
        changed = begun.request != self._request
        if answer.status == 200 and not (changed and self._case.suite == "multiturn"):
            return 200, self._through(answer, self._request), []
        taught = answer.status == 400 and self._sampler.recognises(answer)
        if not taught and not (changed and (answer.status == 200 or 400 <= answer.status < 500)):
            return answer.status, None, []
        self._requests += 1
        asked = await self._sampler.ask_repaired(self._request)
        self._retries += asked.answer.tries - 1
        learned = [str(note.after) for note in asked.learned]
        if asked.answer.status != 200:
            return asked.answer.status, None, learned
        got = asked.answer
        seen = view(asked.exchange, got.body, got.content_type, streamed=self._case.streamed)
        self._spend(asked.exchange.request, seen)
        return 200, seen, learned


def request_hash(request: JsonObject) -> str:
    """As K2-Vendor-Verifier writes it, whose incremental mode finds its results by it."""
    return hashlib.md5(dumps_spaced(request), usedforsecurity=False).hexdigest()


def _message(seen: AnswerView | None) -> JsonObject | None:
    """The first choice, without what differs by accident."""
    choices = (seen.completion or {}).get("choices") if seen is not None else None
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
