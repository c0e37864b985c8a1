"""Random conversations, twice: as a model saw them when it wrote them, and as clients send them back."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from moongate.payload import JsonObject

NAMES = ("bash", "read_file", "mcp__github__list-issues", "web.search", "a", "functions")
TOOLS: list[JsonObject] = [{"type": "function", "function": {"name": name, "parameters": {}}} for name in NAMES]


# How clients and engines write ids. None of them skips a number: a gap would be kept, and be another prompt.
ID_STYLES = {
    "canonical": "functions.{name}:{count}",
    "foreign": "call_{hexadecimal}",
    "anthropic": "toolu_{hexadecimal}",
    "sanitised": "functions_{safe_name}_{count}",
    "encoded": "functions--{safe_name}--{position}x",
    "without prefix": "{name}:{count}",
    "restarting in each message": "functions.{name}:{position}",
    "restarting for each tool": "functions.{name}:{of_name}",
    "always zero": "functions.{name}:0",
    "backwards": "functions.{name}:{earlier}",
    "with more behind": "functions.{name}:{count}x",
    "another tool": "functions.{other}_:{count}",
    "repeated": "call_{position}",
    "one for all": "call",
    "numbers": "{count}",
    "empty": "",
}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call stands, for the id that a client or an engine gives it."""

    name: str
    position: int  # in its message
    count: int  # of the calls before it, over the whole conversation
    of_name: int  # the same, of those with its name

    def written(self, style: str, random: Random) -> str:
        return ID_STYLES[style].format(
            name=self.name,
            safe_name=self.name.replace(".", "_"),
            position=self.position,
            count=self.count,
            of_name=self.of_name,
            earlier=max(0, self.count - random.randrange(3)),
            other=random.choice(NAMES),
            hexadecimal=f"{random.getrandbits(64):016x}",
        )


@dataclass(slots=True)
class Conversation:
    """`seen` by the model, `sent` by the client. `cuts`: lengths of both at which the conversation may have paused."""

    seen: list[JsonObject] = field(default_factory=list)
    sent: list[JsonObject] = field(default_factory=list)
    cuts: list[tuple[int, int]] = field(default_factory=list)

    def add(self, message: JsonObject) -> None:
        self.seen.append(message)
        self.sent.append(message)

    def pause(self) -> None:
        self.cuts.append((len(self.seen), len(self.sent)))


@dataclass(slots=True)
class Writer:
    """Writes one random conversation. `tidy`: only what every front can express."""

    random: Random
    tidy: bool = False
    conversation: Conversation = field(default_factory=Conversation)
    counts: Counter[str] = field(default_factory=Counter)

    def write(self) -> Conversation:
        random, conversation = self.random, self.conversation
        if random.random() < 0.5:
            conversation.add({"role": "system", "content": "Be brief."})
        style = random.choice([*ID_STYLES, "mixed"])
        for turn in range(random.randint(1, 4)):
            conversation.add({"role": "user", "content": f"Task {turn}."})
            conversation.pause()
            for _ in range(random.randint(0, 4)):
                self.call(random.choice(list(ID_STYLES)) if style == "mixed" else style)
                conversation.pause()
            if random.random() < 0.7:
                conversation.add({"role": "assistant", "content": f"Done {turn}."})
                if not self.tidy and random.random() < 0.2:
                    conversation.sent.append({"role": "assistant", "content": random.choice(["", None, []])})
        return conversation

    def call(self, style: str) -> None:
        """A message with calls, and its results."""
        random = self.random
        if style == "empty" and self.tidy:
            style = "foreign"
        calls = list(self.calls(style))
        message: JsonObject = {"role": "assistant", "content": random.choice([None, "Let me see."])}
        thought = f"Thought {random.randrange(9)}."
        seen = {**message, "reasoning_content": thought, "tool_calls": [each.seen for each in calls]}
        self.conversation.seen += [seen, *(each.seen_result for each in calls)]
        sent = {**message, "tool_calls": [each.sent for each in calls]}
        sent["reasoning_content" if self.tidy else random.choice(["reasoning_content", "reasoning"])] = thought
        results = [each.sent_result for each in calls]
        ids = [each.sent["id"] for each in calls]
        if len({*ids, ""}) == len(ids) + 1:
            random.shuffle(results)
            if not self.tidy:
                self.damage(sent, results)
        self.conversation.sent += [sent, *results]

    def calls(self, style: str) -> Iterator[WrittenCall]:
        for position in range(self.random.choice([1, 1, 1, 2, 3])):
            name = self.random.choice(NAMES)
            place = Place(name, position, self.counts.total(), self.counts[name])
            self.counts[name] += 1
            arguments = {"n": place.count, "text": self.random.choice(["", 'a"b', "é\n", "<|tool_call_end|>"])}
            yield WrittenCall(place, place.written(style, self.random), arguments, self.argument_text(arguments))

    def argument_text(self, arguments: JsonObject) -> object:
        if self.tidy:
            return compact(arguments)
        return self.random.choice([compact(arguments), compact(arguments), arguments, compact(compact(arguments))])

    def damage(self, sent: JsonObject, results: list[JsonObject]) -> None:
        """What clients do to messages with distinct ids: a call without a name, a result too many, names as ids."""
        random = self.random
        if random.random() < 0.1:
            nameless = {"id": "lost", "type": "function", "function": {"name": "", "arguments": "{}"}}
            sent["tool_calls"].insert(random.randint(0, len(sent["tool_calls"])), nameless)
            results.insert(random.randint(0, len(results)), {"role": "tool", "tool_call_id": "lost", "content": "x"})
        if random.random() < 0.1:
            results.append({"role": "tool", "tool_call_id": "unknown", "content": "nobody has asked for it"})
        if random.random() < 0.1:
            results.append({**results[0], "content": "a second result"})
        if random.random() < 0.1:
            call = sent["tool_calls"][0]
            name = call["function"]["name"]
            if name:
                call["function"] = {**call["function"], "name": f"functions.{name}:{random.randrange(9)}"}


class WrittenCall:
    """A call and its result, as seen and as sent."""

    def __init__(self, place: Place, sent_id: str, arguments: JsonObject, sent_arguments: object) -> None:
        seen_id = f"functions.{place.name}:{place.count}"
        content = f"Result {place.count}."
        self.seen = _call(seen_id, place.name, compact(arguments))
        self.sent = _call(sent_id, place.name, sent_arguments)
        self.seen_result = {"role": "tool", "tool_call_id": seen_id, "content": content}
        self.sent_result = {"role": "tool", "tool_call_id": sent_id, "content": content}


def _call(call_id: str, name: str, arguments: object) -> JsonObject:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
