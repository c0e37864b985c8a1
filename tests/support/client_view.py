"""What a client makes of an answer, in one word: good, refused with a status, an error inside the stream, or worse."""

from __future__ import annotations

from tests.support.fronts import Front
from tests.support.gateway import RunningGateway
from tests.support.http import Reply, post

OK = "ok"
BAND = "in-band error"
Outcome = str | int


def outcome(gateway: RunningGateway, model: str, front: Front, *, stream: bool) -> tuple[Outcome, str]:
    """The outcome, and the answer's end for the message of a failing test."""
    reply = post(gateway.root + front.path, front.ask(model, front.user("hi"), (), stream=stream), key=gateway.key)
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
        return reply.status if shaped else "shapeless error"
    answer = front.read(reply.body, stream=stream)
    if answer.late:
        return "something after the end"
    if answer.error is not None:
        return "success beside an error" if answer.ended or answer.finish not in (None, "failed") else BAND
    if not answer.ended or answer.finish is None:
        return "silence at the end"
    return OK
