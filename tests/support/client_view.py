"""The outcome of a request for the client: success, an HTTP error, an error inside the stream, or a broken answer."""

from __future__ import annotations

from tests.support.front import Front
from tests.support.gateway import RunningGateway
from tests.support.http import Reply, post

OK = "ok"
IN_BAND_ERROR = "in-band error"
Outcome = str | int


def outcome(gateway: RunningGateway, model: str, front: Front, *, stream: bool) -> tuple[Outcome, str]:
    """The outcome, and the end of the answer for the message of a failing test."""
    reply = post(gateway.root + front.path, front.request(model, front.user("hi"), (), stream=stream), key=gateway.key)
    shown = reply.body[-300:].decode(errors="replace")
    if b"Traceback" in reply.body or b'File "' in reply.body:
        return "stack trace", shown
    return class_of(reply, front, stream=stream), shown


def class_of(reply: Reply, front: Front, *, stream: bool) -> Outcome:
    if reply.cut:
        return "cut short"
    if reply.status != 200:
        error = reply.json()["error"]
        shaped = isinstance(error["message"], str) and error["message"] and isinstance(error["type"], str)
        return reply.status if shaped else "malformed error"
    answer = front.read(reply.body, stream=stream)
    if answer.late:
        return "event after the end"
    if answer.error is not None:
        return "success and an error" if answer.ended or answer.finish not in (None, "failed") else IN_BAND_ERROR
    if not answer.ended or answer.finish is None:
        return "no end marker"
    return OK
