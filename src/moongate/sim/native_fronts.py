"""The vendor's native addresses: `…/messages` and `…/responses`, played by the same model behind a translation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from moongate.chat.base import BaseExchange
from moongate.chat.contracts import Dialect
from moongate.dialects.fronts import FRONTS
from moongate.errors import BadRequest, UpstreamRefused
from moongate.payload import JsonObject, dumps, object_of
from moongate.pipeline.session import Session
from moongate.sim.responses import SimRequest, SimResponse, json_response

LEAVES: Final = {"/messages": "messages", "/responses": "responses"}
_DIALECTS: Final = {front.dialect.name: front.dialect for front in FRONTS}


def native_dialect(path: str) -> Dialect | None:
    """The dialect that is spoken at a path, None for chat completions."""
    return next((_DIALECTS[name] for leaf, name in LEAVES.items() if path.endswith(leaf)), None)


def native_answer(
    dialect: Dialect, request: SimRequest, body: JsonObject, answer: Callable[[SimRequest], SimResponse]
) -> SimResponse:
    """`answer` is asked in chat completions, and what it says is written in the dialect."""
    try:
        chat = dialect.decode(body)
    except BadRequest as error:
        return json_response(400, dialect.error(error))
    path = request.path.rpartition("/")[0].removesuffix("/anthropic/v1") + "/chat/completions"
    given = answer(replace(request, path=path, body=dumps(chat)))
    data = b"".join(given.pieces)
    if given.status != 200:
        said = (object_of(data) or {}).get("error") or {}
        refused = UpstreamRefused(str(said.get("message", "")), status=given.status)
        return replace(json_response(given.status, dialect.error(refused)), entry=given.entry)
    if given.chunked:
        session = Session(BaseExchange(chat), "text/event-stream", dialect.encoder(body))
        pieces = [*map(session.feed, given.pieces), session.close() if given.ending == "end" else b""]
        return replace(given, pieces=[piece for piece in pieces if piece])
    return replace(json_response(200, dialect.encode(object_of(data) or {}, body)), entry=given.entry)
