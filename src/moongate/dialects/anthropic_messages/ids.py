"""Tool-call ids that Anthropic's clients accept: `[A-Za-z0-9_-]`, 64 characters at most.

`functions.Bash:0` becomes `functions--Bash--0`, any other unsafe id has its unsafe bytes in hex (`Bash:0` becomes
`x--Bash-3a0`). Both are decoded without state, so that transformers see the provider's own ids in the history and
recognise repeated ones. Only an id that is too long for this becomes a digest, which cannot be decoded.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

MAX_LENGTH: Final = 64

_SAFE: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_NUMBERED_ID: Final = re.compile(r"([A-Za-z0-9_-]+?)\.([A-Za-z0-9_-]+):([0-9]{1,9})", re.ASCII)
_ENCODED_NUMBERED_ID: Final = re.compile(r"([A-Za-z0-9_-]+?)--([A-Za-z0-9_-]+)--([0-9]{1,9})", re.ASCII)
_HEX_PREFIX: Final = "x--"
_UNSAFE_BYTE: Final = re.compile(rb"[^A-Za-z0-9_]")
_HEX_BYTE: Final = re.compile(rb"-([0-9a-f]{2})")
DIGEST_PREFIX: Final = "toolu_"


def client_call_id(provider_id: str) -> str:
    """The safe form of a provider's id. Different ids have different safe forms."""
    if len(provider_id) <= MAX_LENGTH:  # neither encoding is shorter than the id
        match = _NUMBERED_ID.fullmatch(provider_id)
        encoded = "--".join(match.groups()) if match else provider_id
        if _SAFE.fullmatch(encoded) and provider_call_id(encoded) == provider_id:
            return encoded
        encoded = _hex_encoded(provider_id)
        if len(encoded) <= MAX_LENGTH:
            return encoded
    return DIGEST_PREFIX + blake2b(provider_id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def provider_call_id(client_id: str) -> str:
    """The provider's id behind a safe form; any other id unchanged."""
    if len(client_id) > MAX_LENGTH or "--" not in client_id:
        return client_id
    if client_id.startswith(_HEX_PREFIX):
        return _hex_decoded(client_id)
    match = _ENCODED_NUMBERED_ID.fullmatch(client_id)
    return "{}.{}:{}".format(*match.groups()) if match else client_id


def _hex_encoded(provider_id: str) -> str:
    data = provider_id.encode("utf-8", "surrogatepass")
    return _HEX_PREFIX + _UNSAFE_BYTE.sub(lambda match: b"-%02x" % ord(match[0]), data).decode("ascii")


def _hex_decoded(client_id: str) -> str:
    data = _HEX_BYTE.sub(
        lambda match: bytes.fromhex(match[1].decode("ascii")),
        client_id.removeprefix(_HEX_PREFIX).encode("utf-8", "surrogatepass"),
    )
    try:
        provider_id = data.decode("utf-8", "surrogatepass")
    except ValueError:
        return client_id
    return provider_id if _hex_encoded(provider_id) == client_id else client_id
