"""Reads complete elements of K3's calls in sequence in one step (section 5.8).

The usual case. Everything else is left to the parser, which reads the same text tag by tag with the same result.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.kimi.markers.k3_call import K3Call, render_argument
from moongate.kimi.markers.k3_tags import MAX_TAG_CHARS, TEXTS, Token, attributes, tag_name
from moongate.kimi.markers.pieces import WholeCall

_MAX_ELEMENTS: Final = 32  # read at once
_MAX_CACHED: Final = 256  # elements that are kept, in case they are repeated

_OPEN, _SEP = TEXTS[Token.OPEN], TEXTS[Token.SEP]
_CALL_END: Final = f"{TEXTS[Token.CLOSE]}call{_SEP}"
_TAG_REST: Final = rf"(?:\s[^<]{{0,{MAX_TAG_CHARS - len('argument ')}}}+)?<\|sep\|>"  # of a tag, after its name

_CHILDREN: Final = re.compile(
    rf"(?:<\|open\|>(argument|json){_TAG_REST}[^<]*+<\|close\|>\1<\|sep\|>){{1,{_MAX_ELEMENTS}}}+"
).match
# Calls without arguments; the last one, if it is not closed, may still have some.
_CALLS: Final = rf"(?:<\|open\|>call{_TAG_REST}(?:<\|close\|>call<\|sep\|>)?+)"
_SOME_CALLS: Final = re.compile(f"{_CALLS}{{1,2}}+").match
_MANY_CALLS: Final = re.compile(f"{_CALLS}{{1,{_MAX_ELEMENTS}}}+").match


def read_children(data: str, at: int, call: K3Call) -> int:
    """Read the complete children of a call from `at` on. Returns where they end."""
    cache = _ArgumentCache(call.repair)
    while (found := _CHILDREN(data, at)) is not None:
        children = data[at : found.end()].split(_OPEN)[1:]
        at = found.end()
        arguments = [cache[child] for child in children] if call.takes_arguments else []
        if arguments and None not in arguments:
            call.add(arguments)  # type: ignore[arg-type]  # none is None
            continue
        for child in children:
            tag, _, rest = child.partition(_SEP)
            call.open(tag_name(tag), cache.attributes(tag))
            call.feed(rest.partition("<")[0])
            call.close()
    return at


class _ArgumentCache(dict[str, str | None]):
    """Text of a child (without `<|open|>`) → the rendered argument, None if it is no argument."""

    def __init__(self, mend: bool) -> None:
        self._mend = mend
        self._tags: dict[str, dict[str, str]] = {}

    def __missing__(self, child: str) -> str | None:
        if len(self) >= _MAX_CACHED:
            self.clear()
        tag, _, rest = child.partition(_SEP)
        argument = None
        if tag.startswith("argument"):  # otherwise it is `json`
            argument = render_argument(self.attributes(tag), rest.partition("<")[0], self._mend)
        self[child] = argument
        return argument

    def attributes(self, tag: str) -> dict[str, str]:
        found = self._tags.get(tag)
        if found is None:
            if len(self._tags) >= _MAX_CACHED:
                self._tags.clear()
            found = self._tags[tag] = attributes(tag)
        return found


def read_empty_calls(data: str, at: int) -> tuple[int, list[WholeCall]]:
    """Read the calls from `at` on that have a name and no arguments. Returns where they end, and the calls."""
    calls: list[WholeCall] = []
    cache = _EmptyCallCache()
    match = _SOME_CALLS  # two at first: if the first is none, reading more was wasted
    while (found := match(data, at)) is not None:
        texts = data[at : found.end()].split(_OPEN)[1:]
        end, before = found.end(), len(calls)
        if not texts[-1].endswith(_CALL_END):
            end -= len(_OPEN) + len(texts.pop())
        try:
            calls.extend(map(cache.__getitem__, texts))
        except KeyError as nameless:  # how many were added by then differs between interpreted and compiled code
            read = texts[: texts.index(nameless.args[0])]
            calls[before:] = [cache[text] for text in read]
            return at + len(_OPEN) * len(read) + sum(map(len, read)), calls
        if end == at:
            break
        at, match = end, _MANY_CALLS
    return at, calls


class _EmptyCallCache(dict[str, WholeCall]):
    """Text of a call (without `<|open|>`) → the call. Raises KeyError for a call without a name."""

    def __missing__(self, text: str) -> WholeCall:
        if len(self) >= _MAX_CACHED:
            self.clear()
        name = attributes(text.partition(_SEP)[0]).get("tool", "").strip()
        if not name:
            raise KeyError(text)
        call = self[text] = ("", name, "{}")
        return call


def skip_repeats(data: str, at: int, tag: str) -> int:
    """The position after the repetitions from `at` on of the tag that ends there."""
    while data.startswith(tag, at):
        at += len(tag)
    return at
