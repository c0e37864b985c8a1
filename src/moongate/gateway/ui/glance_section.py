"""The first thing on the page of one request: what came, what left, and why, each in a few lines."""

from __future__ import annotations

from collections import Counter
from typing import Final

from moongate.gateway.ui.exchange_view import ShownEvent, read_event, read_events
from moongate.gateway.ui.json_markup import cut_text, note_words
from moongate.gateway.ui.markup import Markup, tag
from moongate.gateway.ui.meanings import DAMAGE, REASONS, REPAIRS
from moongate.gateway.ui.outcome import AnswerOutcome, outcome
from moongate.payload import JsonObject

MAX_TEXT: Final = 600
MAX_CALLS: Final = 8
MAX_HEAD: Final = 4096  # characters in which a stream of events shows that it is one
MAX_NOTES: Final = 100


def glance_section(line: JsonObject, capture: JsonObject | None) -> Markup:
    why = tag("div", tag("h2", "Why"), _reasons(line, capture), id="why")
    if capture is None:
        return tag("section", why, id="glance")
    came, target = _came(capture)
    left = outcome(answer_events(capture["answer"]["pieces"]))
    is_whole = not any(each["answer"].get("cut") for each in (capture, *capture["attempts"]))
    columns = [
        tag(
            "div", tag("h2", "Came"), tag("p", f"from {target}", class_="hint"), _outcome(came, left, is_whole=is_whole)
        ),
        tag(
            "div", tag("h2", "Left"), tag("p", "to the client", class_="hint"), _outcome(left, came, is_whole=is_whole)
        ),
    ]
    return tag("section", *columns, why, id="glance", class_="glance")


def _came(capture: JsonObject) -> tuple[AnswerOutcome, str]:
    """What the provider answered last, and its name."""
    answered = [each for each in capture["attempts"] if each["answer"]["pieces"]]
    if not answered:
        asked = capture["attempts"]
        return AnswerOutcome(error=asked[-1]["error"] if asked else ""), asked[-1]["target"] if asked else "nobody"
    return outcome(answer_events(answered[-1]["answer"]["pieces"])), answered[-1]["target"]


def answer_events(pieces: list[JsonObject]) -> list[ShownEvent]:
    """Of a whole answer, of server-sent events, or of lines of JSON."""
    text = "".join(each["text"] for each in pieces)
    whole = read_event(text)
    if whole.is_json:
        return [whole]
    if "data:" in text[:MAX_HEAD]:
        return read_events(text)
    return [read_event(line) for line in text.splitlines() if line.strip()]


def _outcome(shown: AnswerOutcome, other: AnswerOutcome, *, is_whole: bool) -> Markup:
    """What differs from the other one is marked. `is_whole`: all of it was kept."""
    rows: list[tuple[str, str, bool]] = []
    if shown.error:
        rows.append(("error", shown.error, shown.error != other.error))
    if shown.thinking:
        rows.append(("thinking", shown.thinking, shown.thinking != other.thinking))
    if shown.text:
        rows.append(("text", shown.text, shown.text != other.text))
    calls = [(call.name, call.arguments) for call in other.calls.values()]
    for call in list(shown.calls.values())[:MAX_CALLS]:
        said = f"{call.name}({call.arguments})  {call.id}"
        rows.append(("call", said, (call.name, call.arguments) not in calls or not _has_id(other, call.id)))
    if len(shown.calls) > MAX_CALLS:
        rows.append(("", f"… and {len(shown.calls) - MAX_CALLS} calls more", False))
    if shown.end or (rows and is_whole and not shown.error):
        rows.append(("ends with", shown.end or "no finish reason", shown.end != other.end))
    if not rows:
        return tag("p", "nothing" if is_whole else "only its beginning was kept, see below", class_="hint")
    parts: list[Markup] = []
    for name, text, differs in rows:
        value = cut_text(text, MAX_TEXT)
        parts += [tag("dt", name), tag("dd", tag("mark", value) if differs else value)]
    return tag("dl", *parts, class_="outcome")


def _has_id(other: AnswerOutcome, name: str) -> bool:
    return any(call.id == name for call in other.calls.values())


def _reasons(line: JsonObject, capture: JsonObject | None) -> Markup:
    """In words: errors, the route's choice, failed attempts, damage, and repairs by kind."""
    items: list[Markup] = []
    if line.get("error"):
        items.append(tag("li", tag("b", "error"), " ", line["error"], class_="bad"))
    route = line.get("route")
    if isinstance(route, dict):
        items.append(_route(line, route))
    for number, attempt in enumerate(capture["attempts"] if capture is not None else ()):
        if attempt["error"] or attempt["status"] != 200:
            said = attempt["error"] or f"status {attempt['status']}"
            items.append(tag("li", tag("b", f"attempt {number + 1}"), f" {attempt['target']}: {said}", class_="bad"))
    items += [
        tag("li", tag("b", kind), tag("span", DAMAGE.get(kind)), class_="bad") for kind in line.get("damage") or []
    ]
    notes: list[JsonObject] = capture["notes"] if capture is not None else []
    kinds = Counter(note["kind"] for note in notes) if notes else line.get("notes") or {}
    items += [_kind(kind, number) for kind, number in kinds.items()]
    if not items:
        return tag("p", "Nothing was changed.", class_="hint")
    return Markup(tag("ul", *items, class_="why") + (_details(notes) if notes else ""))


def _route(line: JsonObject, route: JsonObject) -> Markup:
    reason = str(route.get("reason"))
    return tag("li", tag("b", "route"), f" {route.get('name')} → {line.get('provider')},{line.get('model')}",
               tag("span", REASONS.get(reason, reason)),
               tag("small", f"strategy {route.get('strategy')}, reason {reason}, score {route.get('score')}"),
               )  # fmt: skip


def _kind(kind: str, number: int) -> Markup:
    return tag("li", tag("b", kind), f" × {number}" if number > 1 else None, tag("span", REPAIRS.get(kind)))


def _details(notes: list[JsonObject]) -> Markup:
    items = []
    for note in notes[:MAX_NOTES]:
        whose = "the vendor's answer" if note["mends"] == "vendor" else "the client's request"
        items.append(
            tag("li", note_words(note), " ", tag("code", cut_text(note["where"], 200)), " ", tag("small", whose))
        )
    if len(notes) > MAX_NOTES:
        items.append(tag("li", f"… and {len(notes) - MAX_NOTES} more"))
    title = "1 note, with its place" if len(notes) == 1 else f"{len(notes)} notes, each with its place"
    return tag("details", tag("summary", title), tag("ul", *items))
