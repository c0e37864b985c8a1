"""The errors of the gateway, by whose fault they are, each with its HTTP status.

    GatewayError                500  the gateway's
    ├── ConfigError             500  the operator's: a bad configuration or option
    ├── BadRequest              400  the client's
    │   ├── NeedsStore
    │   ├── Unauthorized        401
    │   ├── Forbidden           403
    │   ├── NotFound            404
    │   ├── MethodNotAllowed    405
    │   ├── RequestTimeout      408
    │   ├── TooLarge            413
    │   └── TooManyRequests     429
    ├── Overloaded              503  nobody's: at a limit, or shutting down
    └── BadUpstream             502  the provider's: broken, cut, malformed
        ├── UpstreamTimeout     504
        └── UpstreamRefused     the provider's own status

Messages are for the person who reads them: no stack trace, no secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Self

MAX_MESSAGE: Final = 8192  # characters; client or provider may have chosen them, and secrets are looked for in all
MAX_PATH: Final = 1024
MAX_CODE: Final = 256


class GatewayError(Exception):
    """The base class. `path` is where in the JSON (or file) the error is."""

    status: int = 500
    kind: ClassVar[str] = "server_error"  # OpenAI's `error.type`

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        status: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        # A custom transformer may pass anything (an exception, a number); a message is text.
        self.message = str(message)[:MAX_MESSAGE]
        self.path = str(path or "")[:MAX_PATH]
        super().__init__(f"{self.path}: {self.message}" if path else self.message)
        self.code = None if code is None else str(code)[:MAX_CODE]
        self.retry_after = retry_after
        if status is not None:
            self.status = status

    def without_frames(self) -> Self:
        """Itself, without what was running when it was raised: a frame that keeps an error is kept by it, and with both
        the request's body, until the garbage collector comes."""
        self.__traceback__ = self.__context__ = self.__cause__ = None
        return self


class ConfigError(GatewayError):
    """The configuration (or an option) is wrong."""

    kind = "configuration_error"


class ConfigErrors(ConfigError):
    """Several errors of one configuration; `errors` holds each of them."""

    def __init__(self, errors: Sequence[ConfigError]) -> None:
        super().__init__("; ".join(map(str, errors)))
        self.errors = tuple(errors)


class BadRequest(GatewayError):
    """The client's request is wrong."""

    status = 400
    kind = "invalid_request_error"


class NeedsStore(BadRequest):
    """Only a provider that speaks the client's own dialect can answer it. `chat` is what can be translated."""

    def __init__(self, message: str, path: str, chat: dict[str, Any]) -> None:
        super().__init__(message, path=path, code="unsupported_parameter")
        self.chat = chat


class Unauthorized(BadRequest):
    status = 401
    kind = "authentication_error"


class Forbidden(BadRequest):
    status = 403
    kind = "permission_error"


class NotFound(BadRequest):
    status = 404
    kind = "not_found_error"


class MethodNotAllowed(BadRequest):
    status = 405


class RequestTimeout(BadRequest):
    status = 408


class TooLarge(BadRequest):
    status = 413


class TooManyRequests(BadRequest):
    status = 429
    kind = "rate_limit_error"


class Overloaded(GatewayError):
    """At a limit, or shutting down: try again later."""

    status = 503
    kind = "overloaded_error"


class BadUpstream(GatewayError):
    """The provider's answer is broken: cut, malformed, too large, unreachable."""

    status = 502
    kind = "upstream_error"


class UpstreamTimeout(BadUpstream):
    status = 504


class UpstreamRefused(BadUpstream):
    """The provider answered with an error: its status and message are kept."""
