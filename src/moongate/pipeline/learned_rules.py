"""Rules that targets have taught by refusing requests.

A transformer recognises a refusal and names the rule that answers it; the request is then sent again with that rule.
If the provider accepts it, the rule is remembered for the target, so that later requests are not refused first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from moongate.chat.contracts import Note
from moongate.pipeline.chain import Chain

REMEMBERED_SECONDS: Final = 3600.0
MAX_REMEMBERED: Final = 32  # rules of one target; transformers know fewer
MAX_TRIED: Final = 2  # rules that one request tries out at one target
MAX_SHOWN: Final = 200  # characters of a refusal in a note


class LearnedRules:
    """The rules that are remembered for one target, and its chain with them."""

    __slots__ = ("_chain", "_plain", "_used", "until")

    def __init__(self, chain: Chain) -> None:
        self._plain = chain
        self.until: dict[str, float] = {}  # rule → when it is forgotten
        self._used: frozenset[str] = frozenset()  # the rules of `_chain`
        self._chain = chain

    def rules(self, now: float) -> frozenset[str]:
        """The rules that are remembered now."""
        if not self.until:
            return frozenset()
        self.until = {rule: end for rule, end in self.until.items() if end > now}
        return frozenset(self.until)

    def chain(self, now: float) -> Chain:
        """The target's chain with the rules that are remembered now."""
        if not self.until:
            return self._plain
        rules = self.rules(now)
        if rules != self._used:
            self._used, self._chain = rules, self.chain_with(rules)
        return self._chain

    def chain_with(self, rules: frozenset[str]) -> Chain:
        """The target's chain with these rules."""
        return self._plain.with_rules(rules) if rules else self._plain

    def learn(self, rule: str, now: float) -> None:
        if len(self.until) < MAX_REMEMBERED:
            self.until[rule] = now + REMEMBERED_SECONDS

    def inherit(self, until: Mapping[str, float]) -> None:
        """Remember what the same target has taught before a reload. Options may have changed, so they apply again."""
        self.until = dict(until)


class RuleTrial:
    """The rules that one request tries out at one target."""

    __slots__ = ("_known", "_refusals", "chain", "memory")

    def __init__(self, memory: LearnedRules, now: float) -> None:
        self.memory = memory
        self._known = memory.rules(now)
        self._refusals: dict[str, str] = {}  # rule → the message that it answers
        self.chain = memory.chain(now)

    def answer(self, refusal: str) -> bool:
        """Turn on the rule that answers this message; False if there is none, or enough were tried."""
        rule = self.chain.recognise_refusal(refusal)
        if rule is None or rule in self._known or rule in self._refusals or len(self._refusals) >= MAX_TRIED:
            return False
        self._refusals[rule] = refusal
        self.chain = self.memory.chain_with(self._known.union(self._refusals))
        return True

    def accepted(self, now: float) -> list[Note]:
        """The provider has accepted the request: the rules are remembered. One note for each."""
        for rule in self._refusals:
            self.memory.learn(rule, now)
        return [Note("refusal", "", message[:MAX_SHOWN], rule) for rule, message in self._refusals.items()]
