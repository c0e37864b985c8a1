"""A capture as one JSON document, without secrets: what is stored, shown and copied."""

from __future__ import annotations

from typing import Any, Final

from moongate.chat.contracts import Note
from moongate.gateway.http.redaction import MASK, Redactor
from moongate.gateway.inspect.capture import MAX_KEPT, Capture, CapturedAttempt, CapturedBody
from moongate.gateway.record.log_lines import Entry, json_line
from moongate.payload import JsonObject, dumps, loads

MAX_NOTE: Final = 4096  # characters of what stood at a place
MAX_SECRET: Final = 4096  # characters of a secret in any spelling: a body that was cut ends so much earlier


def capture_document(capture: Capture, entry: Entry, redactor: Redactor) -> JsonObject:
    """Times are in seconds from the beginning of the request."""
    line = loads(json_line(entry._replace(bodies=None)))
    return {
        "line": line,
        "time": capture.when,
        "user_agent": redactor.redact(capture.user_agent),
        "request": _text(capture.request, redactor),
        "attempts": [_attempt(each, redactor) for each in capture.attempts],
        "answer": _body(capture.answer, redactor),
        "status": capture.status,
        "first_byte_at": capture.first_byte_at,
        "ended_at": entry.duration,
        "notes": [
            {"attempt": attempt, "event": event, **_note(note, redactor)} for attempt, event, note in capture.notes
        ],
    }


def _note(note: Note, redactor: Redactor) -> JsonObject:
    if not isinstance(note, Note):  # of a custom transformer it may be of any class that has a kind
        note = Note(note.kind, "")
    return {
        "kind": note.kind,
        "where": redactor.redact(note.where),
        "before": _value(note.before, redactor),
        "after": _value(note.after, redactor),
        "why": redactor.redact(note.why),
        "mends": note.mends,
    }


def _attempt(attempt: CapturedAttempt, redactor: Redactor) -> JsonObject:
    return {
        "target": attempt.target,
        "url": redactor.redact(attempt.url),
        "further": attempt.further,
        "sent_at": attempt.sent_at,
        "head_at": attempt.head_at,
        "ended_at": attempt.ended_at,
        "status": attempt.status,
        "content_type": redactor.redact(attempt.content_type),
        "error": redactor.redact(attempt.error),
        "request": _text(attempt.request, redactor),
        "answer": _body(attempt.answer, redactor),
    }


def _text(data: bytes, redactor: Redactor) -> JsonObject:
    text, cut = redactor.redact(data[:MAX_KEPT].decode("utf-8", "replace")), max(0, len(data) - MAX_KEPT)
    return {"text": text[:-MAX_SECRET] if cut else text, "cut": cut + MAX_SECRET if cut else 0}


def _body(body: CapturedBody, redactor: Redactor) -> JsonObject:
    """The pieces with their times. A secret may lie across pieces: then they become one."""
    texts = [bytes(piece.data).decode("utf-8", "replace") for piece in body.pieces]
    redacted = [redactor.redact(text) for text in texts]
    whole = "".join(redacted)
    if redactor.redact(whole) is not whole:
        at, cause = body.pieces[0].at, body.pieces[0].cause
        pieces: list[JsonObject] = [{"at": at, "text": redactor.redact(whole), "cause": cause}]
    else:
        pieces = [
            {"at": piece.at, "text": text, "cause": piece.cause}
            for piece, text in zip(body.pieces, redacted, strict=True)
        ]
    if body.cut:
        pieces[-1]["text"] = pieces[-1]["text"][:-MAX_SECRET]
    return {"pieces": pieces, "cut": body.cut}


def _value(value: Any, redactor: Redactor) -> str | None:
    """What stood at a place, as JSON; None: nothing did."""
    if value is None:
        return None
    try:
        text = dumps(value).decode("utf-8", "replace")
    except (TypeError, ValueError):
        text = MASK
    # Nothing behind is looked at: a schema may be megabytes.
    redacted = redactor.redact(text[: MAX_NOTE + MAX_SECRET])
    return (redacted[:-MAX_SECRET] if len(text) > MAX_NOTE + MAX_SECRET else redacted)[:MAX_NOTE]
