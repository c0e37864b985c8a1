"""Elements of K3's calls that are all there, one after the other, read in one go (section 5.8).

The usual case. Whatever is not plain is left to the parser, which reads the same text tag by tag.
"""

from __future__ import annotations

import re
from typing import Final

from moongate.kimi.k3_call import K3Call
from moongate.kimi.k3_tags import MAX_TAG_CHARS, attributes
from moongate.kimi.pieces import WholeCall

_MORE: Final = rf"(?:\s[^<]{{0,{MAX_TAG_CHARS - len('argument ')}}}+)?"  # of a tag, behind its name
_CALL: Final = rf"<\|open\|>(call{_MORE})<\|sep\|>"

# A child of a call: its tag, its body, its end.
_CHILD: Final = re.compile(rf"<\|open\|>((argument|json){_MORE})<\|sep\|>([^<]*+)<\|close\|>\2<\|sep\|>").match
# A call with nothing in it: the next one begins, or it ends.
_EMPTY: Final = re.compile(rf"{_CALL}(?:<\|close\|>call<\|sep\|>|(?={_CALL}))").match


def read_children(data: str, at: int, call: K3Call) -> int:
    """The children of a call from `at` on, up to the first that is not plain: where they end."""
    while (child := _CHILD(data, at)) is not None:
        call.open(child[2], attributes(child[1]))
        call.feed(child[3])
        call.close()
        at = child.end()
    return at


def read_empty_calls(data: str, at: int) -> tuple[int, list[WholeCall]]:
    """The calls from `at` on that have a name and no arguments: where they end."""
    calls: list[WholeCall] = []
    names: dict[str, str] = {}
    while (call := _EMPTY(data, at)) is not None:
        tag = call[1]
        if tag not in names:
            names[tag] = attributes(tag).get("tool", "").strip()
        if not names[tag]:
            break
        calls.append(("", names[tag], "{}"))
        at = call.end()
    return at, calls


def behind_repeats(data: str, at: int, tag: str) -> int:
    """Where the tags end that say again what the same one before `at` said."""
    while data.startswith(tag, at):
        at += len(tag)
    return at
