"""What the verdict needs of an answer in the provider's own dialect: calls, whether it has content, how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from moongate.chat.event_reader import REPORTED
from moongate.errors import BadUpstream
from moongate.kimi.answer.judge import ChoiceEnd, Judge, JudgedCall
from moongate.kimi.answer.marker_watch import MarkerWatch

MAX_CALLS: Final = 8192  # of one answer; those beyond are not judged
MAX_ARGUMENTS: Final = 4 << 20  # bytes of all its calls; of a call beyond only the name is judged


class DeclaredSchemas(NamedTuple):
    """The tools of a request by the names that their calls have, each with the client's own schema."""

    schemas: dict[str, object]
    only_calls: bool = True  # False: others may be used in another way than by calls that are judged


class NativeCall:
    """A call of the answer."""

    __slots__ = ("arguments", "custom", "ended", "name", "streamed")

    def __init__(self, name: str, custom: bool) -> None:
        self.name = name
        self.custom = custom  # its text need not be JSON, or was too long to be kept
        self.arguments = bytearray()
        self.streamed = False  # its arguments came in events of their own
        self.ended = False


class NativeAnswer:
    """Filled by an `AnswerReader`; calls are known by their index in the answer."""

    __slots__ = (
        *("_calls", "_max_arguments", "_max_calls", "_open", "_tokens", "_watches"),
        *("failed", "has_content", "leaked", "nameless", "reason", "size"),
    )

    def __init__(self, tokens: tuple[str, ...], max_calls: int = MAX_CALLS, max_arguments: int = MAX_ARGUMENTS) -> None:
        self._tokens = tokens  # markers that should not be visible
        self._max_calls, self._max_arguments = max_calls, max_arguments
        self.reason: str | None = None  # the finish reason that chat completions have for it
        self.failed = False  # the provider says so, without an error
        self.clear()

    def clear(self) -> None:
        """All of it is told again."""
        self._calls: list[NativeCall] = []
        self._open: dict[int, NativeCall] = {}
        self._watches: dict[str, MarkerWatch] = {}
        self.size = 0  # bytes of arguments
        self.has_content = self.leaked = self.nameless = False

    def begin_call(self, index: object, name: object, arguments: bytes = b"", *, custom: bool = False) -> None:
        """`arguments`: those that it has unless others follow."""
        if not isinstance(name, str) or not name:
            self.nameless = True
        elif len(self._calls) < self._max_calls:
            call = self._open[_key(index)] = NativeCall(name, custom)
            self._calls.append(call)
            self._keep(call, arguments)

    def add_arguments(self, index: object, text: object) -> None:
        call = self._open.get(_key(index))
        if call is None or not isinstance(text, str) or not text:
            return
        if not call.streamed:
            call.streamed = True
            self._drop(call)
        self._keep(call, text.encode("utf-8", "surrogatepass"))

    def end_call(self, index: object) -> None:
        call = self._open.pop(_key(index), None)
        if call is not None:
            call.ended = True

    def is_open(self, index: object) -> bool:
        return _key(index) in self._open

    def add_text(self, channel: str, text: object) -> None:
        """Visible text of the channel `content` or `reasoning`."""
        if not isinstance(text, str) or not text:
            return
        self.has_content = self.has_content or channel == "content"
        if self.leaked or not self._tokens:
            return
        watch = self._watches.get(channel)
        if watch is None:
            watch = self._watches[channel] = MarkerWatch(self._tokens)
        self.leaked = watch.find(text) is not None

    def judge(self, judge: Judge) -> None:
        """The answer is over."""
        cut = any(not call.ended for call in self._calls)
        end = ChoiceEnd(self.reason, cut, self.leaked, False, self.nameless, self.has_content)
        if self.failed:
            judge.fail(BadUpstream(REPORTED))
        judge.choice(0, _judged(self._calls), end)
        judge.end()
        self.clear()

    def _keep(self, call: NativeCall, text: bytes) -> None:
        if call.custom:
            return
        if self.size + len(text) > self._max_arguments:
            call.custom = True
            self._drop(call)
        else:
            self.size += len(text)
            call.arguments += text

    def _drop(self, call: NativeCall) -> None:
        self.size -= len(call.arguments)
        call.arguments = bytearray()


def _key(index: object) -> int:
    return index if isinstance(index, int) else -1


def _judged(calls: Iterable[NativeCall]) -> Iterator[JudgedCall]:
    for call in calls:
        yield JudgedCall(call.name, call.arguments.decode("utf-8", "surrogatepass"), call.custom)
