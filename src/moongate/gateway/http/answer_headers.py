"""The headers of an answer: its type, its id, which model answers, what of the request was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from moongate.chat.contracts import Note
from moongate.gateway.server.response_writer import HeaderList

MODEL_HEADER: Final = b"x-moongate-model"
LEFT_OUT_HEADER: Final = b"x-moongate-left-out"
MAX_SHOWN_NAME: Final = 200  # characters of a model's name in a header
MAX_LEFT_OUT: Final = 20  # names in the header, each of at most MAX_WORD characters
MAX_WORD: Final = 40
JSON_TYPE: Final = (b"content-type", b"application/json")
STREAM_HEADERS: Final = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)

_UNPRINTABLE: Final = re.compile(r"[^ -~]")
_NO_WORD: Final = re.compile(r"[^A-Za-z0-9_.$-]")


def model_header(requested: str, provider: str, model: str) -> HeaderList:
    """Says which model answers, if it is not what the client asked for (alias, default, fallback)."""
    if requested == model:
        return []
    known = _known_header if len(requested) <= MAX_SHOWN_NAME else _model_header
    found = known(requested, provider, model)
    return [] if found is None else [found]


def _model_header(requested: str, provider: str, model: str) -> tuple[bytes, bytes] | None:
    answering = f"{provider},{model}"
    if requested in (answering, f"{provider}/{model}"):
        return None
    # Names come from clients and configurations: what a header cannot hold is replaced.
    text = f"{requested[:MAX_SHOWN_NAME]} -> {answering[:MAX_SHOWN_NAME]}"
    return MODEL_HEADER, _UNPRINTABLE.sub("?", text).encode("ascii")


_known_header: Final = lru_cache(maxsize=1024)(_model_header)


def answer_headers(
    request_id: bytes, model: HeaderList, left_out: Sequence[Note], route: HeaderList, warnings: HeaderList
) -> HeaderList:
    """All headers of an answer but its type."""
    return [(b"x-request-id", request_id), *model, *(left_out_header(left_out) if left_out else ()), *route, *warnings]


def left_out_header(left_out: Iterable[Note]) -> HeaderList:
    """Says what of the request does not reach the model: types of tools and items, names of fields."""
    words = dict.fromkeys(_NO_WORD.sub("?", str(note.before or note.where)[:MAX_WORD]) for note in left_out)
    if not words:
        return []
    shown = list(words)[:MAX_LEFT_OUT]
    if len(words) > MAX_LEFT_OUT:
        shown.append("...")
    return [(LEFT_OUT_HEADER, ", ".join(shown).encode("ascii"))]
