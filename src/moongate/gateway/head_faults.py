"""What servers and proxies have been talked into disagreeing about: heads that the parser takes and we do not. Pure."""

from __future__ import annotations

from typing import Final

Headers = list[tuple[bytes, bytes]]

# Names that a careless peer takes for the headers that frame a request.
LOOKALIKES: Final = frozenset({b"content_length", b"transfer_encoding"})


def fault_of(opening: bytes, method: bytes, url: bytes, headers: Headers, *, modern: bool) -> str:
    """What makes a head unacceptable that the parser has accepted, "" if nothing does.

    `opening` begins with the request line as it came. If not `modern`, anything but HTTP/1.0 is a fault.
    """
    # Other versions, other protocols, more than one space.
    if not opening.startswith(b"%b %b HTTP/1.%d\r" % (method, url, modern)):
        return "The request line is not valid"
    if url[:1] != b"/" or b"#" in url:
        return "The request target must be a path"
    hosts = codings = lengths = 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"content-length":
            lengths += 1
        elif name == b"transfer-encoding":
            codings += 1
            if not modern or value.lower() != b"chunked":
                return "The transfer coding must be chunked alone"
        elif name in LOOKALIKES:
            return "A header looks like one that frames the request"
    if hosts > 1 or (modern and not hosts):
        return "The request must have one Host header"
    if codings + lengths > 1:
        return "The request says more than once where it ends"
    return ""
