"""`moongate demo`: five misbehaviours of Kimi and a tool loop, each with and without the repair."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moongate.cli.admin_listener import login_link
from moongate.cli.console import Console
from moongate.cli.demo_agent import StreamedAnswer, ask
from moongate.cli.demo_guard import show as show_guard
from moongate.cli.running_gateways import running_gateways
from moongate.cli.terminal import Colours, command
from moongate.gateway.http.client_key import ADMIN_FILE, home
from moongate.payload import JsonObject, dumps_text

EPILOG = """\
example:
  moongate demo
  moongate demo guard

The simulator plays the provider inside this process: no key, no network.
exit codes: 0 each repair was shown, 1 one of them failed"""

WIDTH: Final = 100  # columns, where the output is no terminal
MIN_WIDTH: Final = 60
USER: Final[JsonObject] = {"role": "user", "content": "What is the weather in Beijing?"}
RESULT: Final = "21 °C, clear"


@dataclass(frozen=True, slots=True)
class Scene:
    """One misbehaviour: what came, what left, and why it matters."""

    title: str
    came: str
    left: str
    why: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "topic", nargs="?", choices=["guard"], help="guard: calls that fit their schemas (docs/guard.md)"
    )


def run(options: argparse.Namespace, console: Console) -> int:
    paint = Colours()
    if options.topic == "guard":
        return show_guard(paint)
    width = max(MIN_WIDTH, min(shutil.get_terminal_size((WIDTH, 24)).columns, WIDTH))
    print(f"{paint('moongate demo', 'bold')}: what came to moongate, what left it, and why. No key, no network.")
    for number, scene in enumerate(scenes(), 1):
        print(f"\n{paint(f'{number}  {scene.title}', 'bold')}")
        for label, style, text in (
            ("came", "red", scene.came),
            ("left", "green", scene.left),
            ("why", "dim", scene.why),
        ):
            print(_block(label, style, text, width, paint))
    print(f"\n{paint('6  A tool loop of two turns', 'bold')}")
    outcomes = []
    for label, style, repaired in (("without moongate", "red", False), ("with moongate", "green", True)):
        lines, works = loop(repaired=repaired)
        outcomes.append(works)
        print(f"   {paint(label, style)}")
        for line in lines:
            print(_block("", style, line, width, paint))
    print(f"\nnext: {_inspector(home(console.environ))}")
    print(f"      {command()} connect claude-code --write   (or codex, kimi-code, opencode, qwen-code, cline)")
    return 0 if outcomes == [False, True] else 1


def _inspector(folder: Path) -> str:
    """How to see this for each request: a link that logs in to the pages of `make run` once, if that runs."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        for record in running_gateways(folder):
            if record.admin and record.config is None:  # with a configuration its pages may be off, or another key's
                key = (folder / ADMIN_FILE).read_text(encoding="ascii").strip()
                return f"{login_link(record.admin, key)}   (works once: pages that show this for each request)"
    return f"{command()} serve   (prints a link to the inspector: pages that show this for each request)"


def scenes() -> Iterator[Scene]:
    """Play each misbehaviour against the simulator."""
    yield _foreign_ids()
    yield _markers()
    yield _finish_reason()
    yield _split_markers()
    yield _reasoning()


def loop(*, repaired: bool) -> tuple[list[str], bool]:
    """An agent that calls a tool and sends its result back: what it sees, and whether it gets its answer."""
    model = "kimi-k2-sim-strict-foreign-ids"
    first = ask(model, [USER], repaired=repaired).answer
    second = ask(model, _history(first), repaired=repaired, tool_choice="none").answer
    lines = [f"turn 1: {_calls(first)}", f"turn 2: {second.content or f'{second.status} {second.error}'}"]
    return lines, RESULT in second.content


def _foreign_ids() -> Scene:
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "toolu_01A9", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Beijing"}'}}
        ],
    }
    history = [USER, message, {"role": "tool", "tool_call_id": "toolu_01A9", "content": RESULT}]
    sent = ask("kimi-k2-sim-strict", history, repaired=True).request["messages"]
    return Scene(
        "Ids of another provider in the history",
        _ids(history),
        _ids(sent),
        "K2 reads a call's name from its id. With an id of another shape it stops without acting.",
    )


def _markers() -> Scene:
    came, left = _both("kimi-k2-sim-markers")
    return Scene(
        "A tool call written into the text",
        f"content {dumps_text(came.content)}",
        f"content {dumps_text(left.content)}, {_calls(left)}",
        "No client reads these markers: the user sees them, and the tool is never called.",
    )


def _finish_reason() -> Scene:
    came, left = _both("kimi-k2-sim-stop-finish")
    return Scene(
        "The wrong finish reason",
        f"{_calls(came)}, finish_reason {dumps_text(came.finish)}",
        f"{_calls(left)}, finish_reason {dumps_text(left.finish)}",
        'Many agents rely on it: after "stop" they end the turn and never run the call.',
    )


def _split_markers() -> Scene:
    came, left = _both("kimi-k2-sim-markers-cut")
    marked = came.pieces[came.content.index("<") :]
    some = " ".join(map(dumps_text, marked[:12]))
    return Scene(
        "A call split over many chunks",
        f"{len(marked)} chunks: {some} …",
        f"{_calls(left)}, no piece of a marker before it",
        "A marker is recognised wherever the chunks divide it, and text before it is not delayed.",
    )


def _reasoning() -> Scene:
    model = "kimi-k2.5-sim-moonshot-walls"
    history = _history(ask(model, [USER], repaired=False).answer)
    came, left = ask(model, history, repaired=False), ask(model, history, repaired=True)
    given = dumps_text(left.request["messages"][1]["reasoning_content"])
    return Scene(
        "Reasoning that the client did not send back",
        f"{came.answer.status} {came.answer.error}",
        f"{left.answer.status}, with reasoning_content {given} in messages[1]",
        "Moonshot refuses a call in the history without its reasoning; most clients drop it.",
    )


def _both(model: str) -> tuple[StreamedAnswer, StreamedAnswer]:
    """The same answer as it came, and as it leaves."""
    return ask(model, [USER], repaired=False).answer, ask(model, [USER], repaired=True).answer


def _history(answer: StreamedAnswer) -> list[JsonObject]:
    return [USER, answer.message(), {"role": "tool", "tool_call_id": answer.calls[0]["id"], "content": RESULT}]


def _calls(answer: StreamedAnswer) -> str:
    return ", ".join(
        f"call {each['function']['name']}({each['function']['arguments']}) id {dumps_text(each['id'])}"
        for each in answer.calls
    )


def _ids(messages: list[JsonObject]) -> str:
    call, result = messages[1]["tool_calls"][0]["id"], messages[2]["tool_call_id"]
    return f"tool_calls[0].id {dumps_text(call)}, tool_call_id {dumps_text(result)}"


def _block(label: str, style: str, text: str, width: int, paint: Colours) -> str:
    """A labelled paragraph, folded; the label and the text in one colour, `why` in none but its own."""
    lines = textwrap.wrap(text, width - 9, break_on_hyphens=False) or [""]
    indent = " " * 9
    shown = [f"   {paint(f'{label:6}', style)}{paint(lines[0], style)}"]
    return "\n".join([*shown, *(indent + paint(line, style) for line in lines[1:])])
