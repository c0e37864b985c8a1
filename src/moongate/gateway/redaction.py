"""Secrets are taken out by value: plain, URL-encoded and inside base64, wherever text leaves the gateway."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from moongate.errors import GatewayError

MASK: Final = "[secret]"
MIN_LENGTH: Final = 6  # a shorter "secret" is a common word, and taking it out would garble everything


class Redactor:
    """Knows the secrets of one configuration."""

    def __init__(self, secrets: Iterable[str]) -> None:
        forms = {form for secret in secrets if len(secret) >= MIN_LENGTH for form in _forms(secret)}
        # The longest first: one secret may begin with another.
        ordered = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, ordered))) if ordered else None
        self._shortest = len(ordered[-1]) if ordered else 0

    def clean(self, text: str) -> str:
        """The text with a mask where a secret stood; the same object if there was none."""
        if self._pattern is None or len(text) < self._shortest or self._pattern.search(text) is None:
            return text
        return self._pattern.sub(MASK, text)

    def clean_error(self, error: GatewayError) -> None:
        """Whatever the error says."""
        error.message, error.path = self.clean(error.message), self.clean(error.path)
        error.code = self.clean(error.code) if error.code else error.code
        error.args = (self.clean(str(error)),)


def _forms(secret: str) -> Iterable[str]:
    data = secret.encode()
    yield secret
    yield secret.replace("/", "\\/")  # as some write JSON
    yield quote(secret, safe="")
    yield quote(secret, safe="").lower()
    yield "".join(f"%{byte:02X}" for byte in data)
    # Base64 of any text that holds the secret: three alignments, without the characters that neighbours share.
    for shift in range(3):
        encoded = b64encode(b"\0" * shift + data).rstrip(b"=").decode("ascii")
        end = len(encoded) - 1 if (shift + len(data)) % 3 else len(encoded)
        inner = encoded[(0, 2, 3)[shift] : end]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")
