"""Elements of K3's calls that are all there, one after the other, read in one go (section 5.8).

The usual case. Whatever is not plain is left to the parser, which reads the same text tag by tag.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.kimi.k3_call import K3Call, written_argument
from moongate.kimi.k3_tags import MAX_TAG_CHARS, TEXTS, Token, attributes, tag_name
from moongate.kimi.pieces import WholeCall

_MOST_ELEMENTS: Final = 32  # read at once
_MOST_KNOWN: Final = 256  # elements that are remembered, in case that they repeat themselves

_OPEN, _SEP = TEXTS[Token.OPEN], TEXTS[Token.SEP]
_CALL_END: Final = f"{TEXTS[Token.CLOSE]}call{_SEP}"
_MORE: Final = rf"(?:\s[^<]{{0,{MAX_TAG_CHARS - len('argument ')}}}+)?<\|sep\|>"  # of a tag, behind its name

_CHILDREN: Final = re.compile(
    rf"(?:<\|open\|>(argument|json){_MORE}[^<]*+<\|close\|>\1<\|sep\|>){{1,{_MOST_ELEMENTS}}}+"
).match
# Calls with nothing in them, but for the last one: if it is not closed it may have something in it.
_CALLS: Final = rf"(?:<\|open\|>call{_MORE}(?:<\|close\|>call<\|sep\|>)?+)"
_SOME_CALLS: Final = re.compile(f"{_CALLS}{{1,2}}+").match
_MANY_CALLS: Final = re.compile(f"{_CALLS}{{1,{_MOST_ELEMENTS}}}+").match


def read_children(data: str, at: int, call: K3Call) -> int:
    """The children of a call from `at` on, up to the first that is not plain: where they end."""
    known = _Arguments(call.mend)
    while (found := _CHILDREN(data, at)) is not None:
        children = data[at : found.end()].split(_OPEN)[1:]
        at = found.end()
        arguments = [known[child] for child in children] if call.takes_arguments else []
        if arguments and None not in arguments:
            call.add(arguments)  # type: ignore[arg-type]  # none is None
            continue
        for child in children:
            tag, _, rest = child.partition(_SEP)
            call.open(tag_name(tag), known.attributes(tag))
            call.feed(rest.partition("<")[0])
            call.close()
    return at


class _Arguments(dict[str, str | None]):
    """Children by their texts from behind `<|open|>` on: as they stand in the JSON, None for what is no argument."""

    def __init__(self, mend: bool) -> None:
        self._mend = mend
        self._tags: dict[str, dict[str, str]] = {}

    def __missing__(self, child: str) -> str | None:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        tag, _, rest = child.partition(_SEP)
        argument = None
        if tag.startswith("argument"):  # the other one is `json`
            argument = written_argument(self.attributes(tag), rest.partition("<")[0], self._mend)
        self[child] = argument
        return argument

    def attributes(self, tag: str) -> dict[str, str]:
        found = self._tags.get(tag)
        if found is None:
            if len(self._tags) >= _MOST_KNOWN:
                self._tags.clear()
            found = self._tags[tag] = attributes(tag)
        return found


def read_empty_calls(data: str, at: int) -> tuple[int, list[WholeCall]]:
    """The calls from `at` on that have a name and no arguments: where they end."""
    calls: list[WholeCall] = []
    known = _EmptyCalls()
    match = _SOME_CALLS  # if the first is none, the others were looked at in vain
    while (found := match(data, at)) is not None:
        texts = data[at : found.end()].split(_OPEN)[1:]
        end, before = found.end(), len(calls)
        if not texts[-1].endswith(_CALL_END):
            end -= len(_OPEN) + len(texts.pop())
        try:
            calls.extend(map(known.__getitem__, texts))
        except KeyError as nameless:  # how many were taken by then depends on who runs this
            read = texts[: texts.index(nameless.args[0])]
            calls[before:] = [known[text] for text in read]
            return at + len(_OPEN) * len(read) + sum(map(len, read)), calls
        if end == at:
            break
        at, match = end, _MANY_CALLS
    return at, calls


class _EmptyCalls(dict[str, WholeCall]):
    """Calls by their texts from behind `<|open|>` on. One without a name is not in it."""

    def __missing__(self, text: str) -> WholeCall:
        if len(self) >= _MOST_KNOWN:
            self.clear()
        name = attributes(text.partition(_SEP)[0]).get("tool", "").strip()
        if not name:
            raise KeyError(text)
        call = self[text] = ("", name, "{}")
        return call


def behind_repeats(data: str, at: int, tag: str) -> int:
    """Where the tags end that say again what the same one before `at` said."""
    while data.startswith(tag, at):
        at += len(tag)
    return at
