"""The answer on the page of one request: event by event, what came from the provider beside what the client got."""

from __future__ import annotations

from typing import Final

from moongate.gateway.ui.exchange_view import EventRow, ShownEvent, event_rows, notes_by_place
from moongate.gateway.ui.json_markup import block, cut_text, inline, note_words
from moongate.gateway.ui.layout import milliseconds
from moongate.gateway.ui.markup import Markup, tag
from moongate.payload import JsonObject, more_values_than

MAX_ROWS: Final = 600
MAX_VALUES: Final = 4000  # of an event that is shown value by value
HEAD_ROWS: Final = 400  # of a longer answer; the rest of the rows are its end


def answer_section(came_url: str, left_url: str, capture: JsonObject) -> Markup:
    rows = event_rows(capture)
    links = tag("p", tag("a", "what came, as text", href=came_url), " · ",
                tag("a", "what left, as text", href=left_url), class_="hint")  # fmt: skip
    if len(rows) == 1 and rows[0].came is not None and rows[0].came.is_json:
        return tag("section", tag("h2", "Answer"), _whole(rows[0], capture), links, id="answer")
    shown, left_out = rows, 0
    if len(rows) > MAX_ROWS:
        left_out = len(rows) - MAX_ROWS
        shown = [*rows[:HEAD_ROWS], *rows[HEAD_ROWS - MAX_ROWS :]]
    envelope = envelope_of(rows)
    items = [_row(row, envelope) for row in shown]
    if left_out:
        items.insert(HEAD_ROWS, tag("li", f"{left_out:,} events are not shown here", class_="event hint"))
    head = tag(
        "li", tag("b", "time"), tag("b", "came"), tag("b", "left"), class_="event event-head", aria_hidden="true"
    )
    changed = sum(not row.unchanged for row in rows)
    about = tag("p", f"{len(rows):,} {'event' if len(rows) == 1 else 'events'}, {changed:,} changed. ",
                tag("label", tag("input", type="checkbox", id="only-changed"), " only what was changed")
                if 0 < changed < len(rows) else None)  # fmt: skip
    cuts = [(capture["answer"]["cut"], "left")]
    cuts += [(attempt["answer"]["cut"], "came") for attempt in capture["attempts"]]
    more = [tag("p", f"{cut:,} bytes more {word} and were not kept", class_="hint") for cut, word in cuts if cut]
    return tag("section", tag("h2", "Answer"), about, tag("ol", head, *items, class_="events", id="events"), *more,
               links, id="answer")  # fmt: skip


def _whole(row: EventRow, capture: JsonObject) -> Markup:
    """A whole answer: two documents."""
    assert row.came is not None
    notes = [note for note in capture["notes"] if note["mends"] == "vendor"]
    placed, others = notes_by_place(row.left[0].value if row.left else None, notes)
    came = tag("div", tag("h3", tag("b", "came"), " from the provider"), block(row.came.value, row.gone))
    shown: object = tag("p", "Nothing left for the client.", class_="empty")
    if row.left and row.left[0].is_json:
        shown = block(row.left[0].value, row.new | set(placed), placed)
    elif row.left:
        shown = tag("pre", *(_event(each, frozenset()) for each in row.left), class_="json", tabindex="0")
    left = tag("div", tag("h3", tag("b", "left"), " to the client"), shown)
    more = [tag("span", note_words(note), " ", tag("code", note["where"]), class_="note") for note in others]
    return Markup(tag("div", came, left, class_="pair") + "".join(more))


def _row(row: EventRow, envelope: JsonObject) -> Markup:
    when = tag("time", milliseconds(row.at * 1000))
    came = tag("div", _event(row.came, row.gone, envelope) if row.came is not None else tag("span", "–", class_="hint"),
               class_="came")  # fmt: skip
    if row.unchanged:
        left = tag("div", tag("span", "unchanged", class_="hint"), class_="left")
    elif not row.left:
        left = tag("div", tag("span", "held back, or left out", class_="hint"), class_="left")
    else:
        marked = row.new
        events = [_event(each, marked if at == 0 else frozenset(), envelope) for at, each in enumerate(row.left)]
        left = tag("div", *events, class_="left")
    notes = [tag("span", note_words(note), class_="note") for note in row.notes]
    kind = "event unchanged" if row.unchanged and not row.notes else "event changed"
    return tag("li", when, came, left, tag("div", *notes, class_="notes") if notes else None, class_=kind,
               data_at=round(row.at * 1000, 1))  # fmt: skip


def envelope_of(rows: list[EventRow]) -> JsonObject:
    """The members that the first event has in common with the others: id, model and so on."""
    first = next((row.came.value for row in rows if row.came is not None and isinstance(row.came.value, dict)), {})
    return {name: value for name, value in first.items() if isinstance(value, (str, int))}


def _event(event: ShownEvent, marked: frozenset[str], envelope: JsonObject | None = None) -> Markup:
    name = tag("b", event.name, " ") if event.name else None
    value = event.value
    if envelope and isinstance(value, dict):
        value = {key: each for key, each in value.items() if key in marked or envelope.get(key) != each}
    dots = tag("i", "… ") if isinstance(value, dict) and len(value) < len(event.value) else None
    few = event.is_json and not more_values_than(event.text.encode("utf-8", "replace"), MAX_VALUES)
    shown: object = [dots, inline(value, marked)] if few else tag("span", cut_text(event.text))
    return tag("code", name, shown)
