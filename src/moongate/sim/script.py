"""The agent loop that the simulated model plays: read the conversation, decide on the next turn.

One call first, then two at once, then a text that names every call with its result: it can only be right if ids,
arguments and results have come back unharmed. Nothing is remembered between requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from moongate.payload import JsonObject, dumps_text
from moongate.sim.arguments import AWKWARD, arguments_for
from moongate.sim.behaviours import Behaviour

CLIP: Final = 160  # characters of a result that the final text repeats
MAX_CHOICES: Final = 8
REASONING: Final = "The user wants the tools used; step {n}."

# Tools of coding agents that may be run in a test. If one of them is offered, only these are called.
HARMLESS: Final = (
    *("Bash", "bash", "shell", "exec_command", "shell_command", "run_shell_command", "run_command"),
    *("execute_command", "Shell"),
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call that the model makes. `number` counts the calls of the whole conversation."""

    name: str
    arguments: str
    number: int
    position: int  # in this answer


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer: a text, or calls with a short text before them."""

    text: str
    reasoning: str = ""
    calls: tuple[Call, ...] = ()


def next_turn(request: JsonObject, behaviour: Behaviour, choice: int = 0) -> Turn:
    """What the model says next in this conversation."""
    messages = [m for m in request.get("messages") or [] if isinstance(m, dict)]
    made = sum(len(calls_in(m)) for m in messages)
    step = _answers_with_calls(messages)
    reasoning = REASONING.replace("{n}", str(step + 1)) if _thinking(request, behaviour) else ""
    tools = offered(request)
    forced = request.get("tool_choice")
    if tools and forced != "none" and (step < behaviour.turns - 1 or forced == "required" or isinstance(forced, dict)):
        tools = _chosen(tools, forced)
        count = 1 if step == 0 or isinstance(forced, dict) else 2
        calls = tuple(_calls(tools, made, count, behaviour))
        return Turn("I will look." if step == 0 else "", reasoning, calls)
    text = _final(messages) if made else f"The Kimi simulator heard: {_last_user(messages)}"
    return Turn(text + (f" (choice {choice})" if choice else ""), reasoning)


def choices_asked(request: JsonObject) -> int:
    n = request.get("n")
    return min(n, MAX_CHOICES) if isinstance(n, int) and n > 1 else 1


def offered(request: JsonObject) -> list[JsonObject]:
    """The functions on offer, those of system messages included."""
    lists = [request.get("tools"), *(m.get("tools") for m in request.get("messages") or [] if isinstance(m, dict))]
    functions = [
        tool["function"]
        for tools in lists
        if isinstance(tools, list)
        for tool in tools
        if isinstance(tool, dict) and tool.get("type", "function") == "function"
        if isinstance(tool.get("function"), dict) and isinstance(tool["function"].get("name"), str)
    ]
    harmless = [function for function in functions if function["name"] in HARMLESS]
    return harmless or functions


def calls_in(message: JsonObject) -> list[JsonObject]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def text_of(content: Any) -> str:
    """The text of a message's content: a string, or parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _answers_with_calls(messages: list[JsonObject]) -> int:
    """Answers with calls since the last one without: a new task begins after each final text."""
    count = 0
    for message in messages:
        if message.get("role") == "assistant":
            count = count + 1 if calls_in(message) else 0
    return count


def _thinking(request: JsonObject, behaviour: Behaviour) -> bool:
    asked = request.get("thinking")
    disabled = isinstance(asked, dict) and asked.get("type") == "disabled"
    return behaviour.thinks and not (disabled and behaviour.generation in ("k2.5", "k2.6"))


def _chosen(tools: list[JsonObject], forced: Any) -> list[JsonObject]:
    function = forced.get("function") if isinstance(forced, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return [tool for tool in tools if tool["name"] == name] or tools


def _calls(tools: list[JsonObject], made: int, count: int, behaviour: Behaviour) -> Iterator[Call]:
    # A marker inside a JSON string must not end the arguments; K3 bodies cannot hold their own markup.
    text = AWKWARD + ("<|tool_call_end|>" if behaviour.family == "k2" else "") if behaviour.awkward else ""
    for position in range(count):
        number = made + position
        tool = tools[number % len(tools)]
        arguments = arguments_for(tool.get("parameters"), number, awkward=text)
        yield Call(tool["name"], dumps_text(arguments), number, position)


def _final(messages: list[JsonObject]) -> str:
    seen = list(_results(messages))
    return f"Done, {len(seen)} results: " + "; ".join(seen)


def _results(messages: list[JsonObject]) -> Iterator[str]:
    """Each call of the conversation with its result, in order of the calls."""
    for place, message in enumerate(messages):
        calls = calls_in(message)
        answers = list(_following(messages[place + 1 :])) if calls else []
        for call in calls:
            function = call.get("function") or {}
            found = next((a for a in answers if a.get("tool_call_id") == call.get("id")), None)
            if found is not None:
                answers.remove(found)
            said = "(no result)" if found is None else text_of(found.get("content"))[:CLIP]
            yield f"{function.get('name')}({function.get('arguments')}) -> {said}"


def _following(messages: Iterable[JsonObject]) -> Iterator[JsonObject]:
    for message in messages:
        if message.get("role") == "assistant":
            return
        if message.get("role") == "tool":
            yield message


def _last_user(messages: list[JsonObject]) -> str:
    said = [text_of(m.get("content")) for m in messages if m.get("role") == "user"]
    return said[-1][:CLIP] if said else "nothing"
