"""Unexpected exceptions, logged in one line: never a stack trace, never a secret.

The text of such an exception may contain anything (a custom transformer may raise what it was given), so it is only
logged where the secrets are known and masked; elsewhere only the type and the place are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from moongate.errors import GatewayError
from moongate.gateway.record.messages import print_message

log = logging.getLogger("moongate")
MAX_TEXT: Final = 1000


def place_of(error: BaseException) -> str:
    """Where it was raised: `file:line`."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace is not None else "?"


def kind_and_place(error: BaseException) -> str:
    return f"{type(error).__name__} at {place_of(error)}"


def describe(error: BaseException, redact: Callable[[str], str]) -> str:
    """Type, place and text of an exception. `redact` masks secrets."""
    try:
        text = str(error)
    except Exception:  # a third-party exception may fail in its own `__str__`
        return kind_and_place(error)
    # Secrets first: what follows might make one unrecognisable.
    words = " ".join(redact(text).split())
    shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in words[:MAX_TEXT])
    return f"{kind_and_place(error)}: {shown}" if shown else kind_and_place(error)


def log_failure(error: BaseException | None, *, complete: bool) -> None:
    """Report an application that raised, or that returned before its answer was complete."""
    if isinstance(error, Exception):  # any application may run here; its bug ends its own request only
        log.error("the application failed: %s", kind_and_place(error))
    elif error is None and not complete:
        log.error("the application returned before its answer was complete")


def internal_error(error: Exception, request_id: str, redact: Callable[[str], str]) -> GatewayError:
    """Report a bug to the operator in one line; the client only learns that there was one."""
    print_message(f"internal error in {request_id}: {describe(error, redact)}")
    message = "Internal error of the gateway; its log has details under the id of this request"
    return GatewayError(message, code="internal")
