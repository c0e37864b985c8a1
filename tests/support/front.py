"""A front from the client's side: how to build a request, how to read an answer, how to send results.

The implementations are independent of the code under test on purpose: a mistake there must not be repeated here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

JsonObject = dict[str, Any]


@dataclass(slots=True)
class ReadCall:
    id: str = ""
    name: str = ""
    arguments: str = ""
    index: int = 0


@dataclass(slots=True)
class ReadAnswer:
    """What a client reads from an answer."""

    text: str = ""
    reasoning: str = ""
    calls: list[ReadCall] = field(default_factory=list)
    finish: str | None = None
    ended: bool = False  # the front's own end marker came
    error: Any = None
    history: list[Any] = field(default_factory=list)  # what the client adds to its history
    late: bool = False  # an event came after the end


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    parameters: JsonObject


class Front(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def path(self) -> str: ...

    def request(self, model: str, history: list[Any], tools: Sequence[Tool], *, stream: bool) -> JsonObject: ...

    def user(self, text: str) -> list[Any]: ...

    def read(self, body: bytes, *, stream: bool) -> ReadAnswer: ...

    def results(self, results: Sequence[tuple[str, str]]) -> list[Any]: ...


def events(body: bytes) -> Iterator[tuple[str, str]]:
    """Server-sent events: (event, data). Comments and events without data are skipped."""
    text = body.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        name, data = "", []
        for line in block.split("\n"):
            key, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if key == "event":
                name = value
            elif key == "data":
                data.append(value)
        if data:
            yield name, "\n".join(data)
