"""The ids of calls in a conversation in the front's own dialect: in its history, then in the answer."""

from __future__ import annotations

from moongate.dialects.anthropic_messages.ids import client_call_id, provider_call_id
from moongate.kimi.ids import CallIds


class CallHistory:
    """`begin_message`, `call_id`, `result_id` in the order of the history, then `answer_id` for the answer's calls."""

    def __init__(self, ids: CallIds) -> None:
        self._ids = ids
        self._message = 0
        self._finals: dict[str, tuple[int, list[str]]] = {}  # original id → the message, and its calls with this id
        self._seen: set[str] = set()
        self._answers: dict[int, str] = {}  # by their index in the answer

    def begin_message(self) -> None:
        self._message += 1
        self._ids.begin_message()

    def call_id(self, original: str, name: str) -> str:
        """The id that a call of the history is sent with. Ids that our own fronts have written are decoded."""
        final = self._ids.claim(provider_call_id(original), name)
        self._seen |= {original, final}
        message, finals = self._finals.get(original, (0, []))
        if message != self._message:
            finals = []
        self._finals[original] = (self._message, [*finals, final])
        return final

    def result_id(self, original: str) -> str:
        """The id of the call that a result belongs to: of the last message with this id, in order."""
        message, finals = self._finals.get(original, (0, [original]))
        if len(finals) > 1:
            self._finals[original] = (message, finals[1:])
        return finals[0]

    def answer_id(self, given: object, name: str) -> str:
        """The id of a call of the answer: its own, unless it has none or one that was used before."""
        if not self._ids.active and isinstance(given, str):
            return given
        final = given if isinstance(given, str) and given and given not in self._seen else ""
        while not final or final in self._seen:
            final = client_call_id(self._ids.claim("", name) if self._ids.active else self._ids.free_id(name))
        self._seen.add(final)
        return final

    def answer_id_at(self, index: int, given: object, name: str) -> str:
        """The same for a call that comes in several events, always with this index."""
        if index not in self._answers:
            self._answers[index] = self.answer_id(given, name)
        return self._answers[index]
