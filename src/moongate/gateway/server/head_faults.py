"""Request heads that the HTTP parser accepts but that are refused here against request smuggling. Pure."""

from __future__ import annotations

from typing import Final

Headers = list[tuple[bytes, bytes]]

# Names that a lenient peer takes for the headers that frame a request.
LOOKALIKES: Final = frozenset({b"content_length", b"transfer_encoding"})
# Headers that decide whether and for whom a request is answered. Of two, each reader would take another one.
DECIDING: Final = frozenset({b"authorization", b"origin", b"sec-fetch-site", b"x-api-key", b"x-moongate-guard"})


def fault_of(opening: bytes, method: bytes, url: bytes, headers: Headers, *, is_http_1_1: bool) -> str:
    """Why a head that the parser has accepted is refused, "" if it is not.

    `opening` starts with the request line as it was sent. If not `is_http_1_1`, anything but HTTP/1.0 is a fault.
    """
    # Other versions, other protocols, more than one space.
    if not opening.startswith(b"%b %b HTTP/1.%d\r" % (method, url, is_http_1_1)):
        return "The request line is not valid"
    if url[:1] != b"/" or b"#" in url:
        return "The request target must be a path"
    hosts = codings = lengths = 0
    deciding: list[bytes] = []
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            lengths += 1
        elif name == b"transfer-encoding":
            codings += 1
            if not is_http_1_1 or value.lower() != b"chunked":
                return "The transfer coding must be chunked alone"
        elif name in DECIDING:
            if name in deciding:
                return f"The request must have one {name.decode()} header"
            deciding.append(name)
        elif name in LOOKALIKES:
            return "A header looks like one that frames the request"
    if hosts > 1 or (is_http_1_1 and not hosts):
        return "The request must have one Host header"
    if codings + lengths > 1:
        return "The request says more than once where it ends"
    return ""
