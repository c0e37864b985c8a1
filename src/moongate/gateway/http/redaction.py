"""Removes secrets from text that leaves the gateway, by value.

Usual spellings (plain, URL-encoded, inside base64) are found as they are. For others the text is folded: escapes of
JSON, URLs and HTML are resolved, tags removed, and of what is left only letters and digits are compared, in one case.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote

from moongate.errors import GatewayError
from moongate.gateway.http.json_body import deeper_than
from moongate.gateway.http.spelling import fold, fold_widely, folded_positions, has_wide_spellings
from moongate.payload import JsonObject, dumps, loads

MASK: Final = "[secret]"
MIN_LENGTH: Final = 6  # a shorter "secret" may be a common word, which would be masked everywhere
MIN_FOLDED: Final = 12  # letters and digits of a secret that is found in any spelling
MAX_AT_ONCE: Final = 2048  # characters in which all secrets are looked for at the same time
MAX_ERROR_EVENTS: Final = 128 * 1024  # bytes at the end of a stream that hold the whole event of its error
MAX_LEVELS: Final = 64  # of an event that is gone through: deeper ones are masked whole
WINDOW: Final = 256 * 1024  # characters that are read at once; no error is longer
OVERLAP: Final = 16 * 1024  # characters of a secret in an unusual spelling
MAX_LOCATED: Final = 16 * 1024  # characters of a text in which an unusual spelling is masked alone, else the whole text


class Redactor:
    """Masks the secrets of one configuration."""

    def __init__(self, secrets: Iterable[str]) -> None:
        secrets = [secret for secret in secrets if len(secret) >= MIN_LENGTH]
        self._usual = AnyOf({form for secret in secrets for form in _forms(secret)})
        spelt = {fold(form) for secret in secrets for form in (secret, *_encoded(secret.encode()))}
        self._folded = AnyOf({form for form in spelt if len(form) >= MIN_FOLDED})
        self._shortest = min(map(len, secrets), default=0)

    def redact(self, text: str) -> str:
        """The text with every secret masked; the same object if there is none in it."""
        if len(text) < self._shortest:
            return text
        text = self._usual.masked(text)
        return self._unhidden(text) if self._is_hidden(text) else text

    def redact_error(self, error: GatewayError) -> None:
        """Mask secrets in every text of an error."""
        error.message, error.path = self.redact(error.message), self.redact(error.path)
        error.code = self.redact(error.code) if error.code else error.code
        error.args = (self.redact(str(error)),)

    def redact_events(self, events: bytes) -> bytes:
        """Events of a stream, the last of which tells of an error, with every secret in it masked; they stay events.

        What comes long before the end are events of the answer.
        """
        start = max(0, len(events) - MAX_ERROR_EVENTS)
        start = max(start, events.find(b"\n", start)) if start else 0
        text = self._usual.masked(events[start:].decode("utf-8", "surrogateescape"))
        if "\\" in text or self._is_hidden(text):  # a spelling may show only without the escapes of JSON
            text = "\n".join(map(self._redacted_line, text.split("\n")))
        return events[:start] + text.encode("utf-8", "surrogateescape")

    def _redacted_line(self, line: str) -> str:
        """A line of an event. In JSON the secret is masked inside of its string, else the whole line's value is."""
        field, colon, value = line.partition(":")
        is_hidden = self._is_hidden(value)
        if not is_hidden and "\\" not in value:
            return line
        found = _value_of(value)
        if not is_hidden and not self._is_hidden("\n".join(_texts_in(found))):
            return line
        is_odd = found is None or deeper_than(found, MAX_LEVELS)
        masked = MASK if is_odd else dumps(self._redacted_value(found)).decode("utf-8", "surrogateescape")
        return f"{field}{colon} {masked}"

    def _redacted_value(self, value: object) -> object:
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            return [self._redacted_value(each) for each in value]
        if isinstance(value, dict):
            redacted: JsonObject = {self.redact(key): self._redacted_value(each) for key, each in value.items()}
            return redacted
        return value

    def _is_hidden(self, text: str) -> bool:
        """Is a secret in the text, in a spelling of its own? A long text is read in parts, between which other threads
        may run."""
        parts = (text[at : at + WINDOW + OVERLAP] for at in range(0, len(text), WINDOW))
        return any(map(self._is_hidden_in, (text,) if len(text) <= WINDOW else parts))

    def _is_hidden_in(self, text: str) -> bool:
        if self._folded.is_in(fold(text)):
            return True
        return has_wide_spellings(text) and self._folded.is_in(fold_widely(text))

    def _unhidden(self, text: str) -> str:
        """The text with secrets masked where they stand; if they cannot be told from what is around them, the mask."""
        if len(text) > MAX_LOCATED:
            return MASK
        letters, positions = folded_positions(text)
        parts, at = [], 0
        for match in self._folded.all_in(letters):
            start, end = positions[match.start()][0], positions[match.end() - 1][1]
            parts += [text[at:start], MASK]
            at = end
        masked = "".join([*parts, text[at:]])
        return MASK if self._is_hidden(masked) else masked


class AnyOf:
    """Looks for any of some texts, not all of which are empty."""

    def __init__(self, texts: Iterable[str]) -> None:
        # The longest first: one secret may begin with another.
        self._texts = sorted(texts, key=lambda text: (-len(text), text))
        # Without texts a pattern that matches nowhere.
        self._pattern = re.compile("|".join(map(re.escape, self._texts)) or r"(?!)")

    def is_in(self, text: str) -> bool:
        # The pattern tries each of the texts at each place: for a long text one search after the other is faster.
        if len(text) > MAX_AT_ONCE:
            return any(each in text for each in self._texts)
        return self._pattern.search(text) is not None

    def masked(self, text: str) -> str:
        """The text with each of them masked; the same object if there is none in it."""
        return self._pattern.sub(MASK, text) if self.is_in(text) else text

    def all_in(self, text: str) -> Iterator[re.Match[str]]:
        return self._pattern.finditer(text)


def _value_of(text: str) -> object:
    """The JSON value that a text is; None if it is anything else."""
    try:
        return loads(text.encode("utf-8", "surrogateescape"))
    except ValueError:
        return None


def _texts_in(value: object) -> Iterator[str]:
    """Every text in a JSON value, keys included, however deep it is."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            yield from each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _forms(secret: str) -> Iterable[str]:
    data = secret.encode()
    yield secret
    yield data.hex().upper()
    yield secret.replace("/", "\\/")  # as some JSON writers escape it
    yield quote(secret, safe="")
    yield quote(secret, safe="").lower()
    yield "".join(f"%{byte:02X}" for byte in data)
    for form in _encoded(data):
        yield form
        yield form.replace("+", "-").replace("/", "_")


def _encoded(data: bytes) -> Iterable[str]:
    """As hexadecimal digits, and as base64 of any text that contains it: three alignments, without characters that
    encode neighbours too."""
    yield data.hex()
    for shift in range(3):
        encoded = b64encode(b"\0" * shift + data).rstrip(b"=").decode("ascii")
        end = len(encoded) - 1 if (shift + len(data)) % 3 else len(encoded)
        yield encoded[(0, 2, 3)[shift] : end]
