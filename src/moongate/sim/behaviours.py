"""What the simulator can play, as a table of rows, and how a model's name chooses among them.

A name is `<a Kimi name>-sim[-row]...`, such as `kimi-k2.5-sim-moonshot-walls-foreign-ids`: what stands before
`-sim` says the generation, each row after it changes a few fields of one frozen `Behaviour`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

GENERATIONS: Final = ("k2", "k2-thinking", "k2.5", "k2.6", "k2.7", "k3", "moonshot-v1")
HOSTS: Final = ("generic", "moonshot", "vllm", "sglang", "openrouter")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How one answer is given. The defaults are a well-behaved host."""

    generation: str = "k2"
    host: str = "generic"
    strict: bool = False  # refuse histories whose ids the model could not read
    walls: bool = False  # refuse what Moonshot's API (or the engine played) refuses
    turns: int = 3  # answers until the final text: one call, then two at once, then the text
    awkward: bool = False  # quotes, line ends, emoji and markup inside the arguments
    ids: str = ""  # shape of the call ids; "" is the host's own
    finish: str = ""  # "" is right; else the word (or "null") given instead
    calls_in: str = "native"  # native, content, reasoning, both
    grammar: str = ""  # a deviation from the family's markup
    names: str = ""  # a deviation in function.name
    piece: int = 11  # characters of text a delta
    arguments: str = "deltas"  # deltas, once, object, none
    index: str = ""  # "" is right; missing, same
    tail: str = ""  # what later deltas of a call repeat: id, null, empty
    think: str = ""  # "tags": reasoning as <think> in content; "open": never closed
    framing: str = "sse"
    shape: str = "asked"  # asked, document, stream
    usage: str = "asked"  # asked, choices
    done: bool = True
    pause: float = 0.0  # seconds between pieces
    fault: str = ""

    @property
    def family(self) -> str:
        return "k3" if self.generation == "k3" else "k2"

    @property
    def thinks(self) -> bool:
        return self.generation not in ("k2", "moonshot-v1")


@dataclass(frozen=True, slots=True)
class Row:
    """One word of a model's name."""

    name: str
    group: str
    about: str
    fields: Mapping[str, Any]
    families: tuple[str, ...] = ("k2", "k3")


def _row(name: str, group: str, about: str, **fields: Any) -> Row:
    families = fields.pop("families", ("k2", "k3"))
    return Row(name, group, about, fields, families)


_K2 = ("k2",)
_K3 = ("k3",)

ROWS: Final[tuple[Row, ...]] = (
    _row("clean", "mode", "nothing wrong", fault=""),
    _row("strict", "mode", "refuses histories with ids that the model could not read", strict=True),
    _row("walls", "mode", "refuses what Moonshot's API refuses, in its words", walls=True),
    _row("long", "mode", "five answers instead of three", turns=5),
    _row("awkward", "mode", "quotes, line ends, emoji and markup inside arguments", awkward=True),
    *(_row(host, "host", f"field names and ids of {host}", host=host) for host in HOSTS),
    # ids
    _row("foreign-ids", "ids", "call_<hex>", ids="foreign"),
    _row("uuid-ids", "ids", "chatcmpl-tool-<hex>", ids="uuid"),
    _row("empty-ids", "ids", "the empty string", ids="empty"),
    _row("null-ids", "ids", "null", ids="null"),
    _row("missing-ids", "ids", "no id at all", ids="missing"),
    _row("repeated-ids", "ids", "every call of a tool has the id functions.<name>:0", ids="repeated"),
    _row("one-id", "ids", "every call has the same foreign id", ids="one"),
    _row("short-ids", "ids", "<name>:<n>", ids="short"),
    _row("safe-ids", "ids", "functions_<name>_<n>, as some clients rewrite them", ids="safe"),
    _row("number-ids", "ids", "only a number", ids="number"),
    _row("restarted-ids", "ids", "functions.<name>:<n> from 0 again in each answer", ids="restarted"),
    # finish reasons
    _row("stop-finish", "finish", "stop beside calls", finish="stop"),
    _row("null-finish", "finish", "never a finish reason", finish="null"),
    _row("odd-finish", "finish", "end_turn, a word from another API", finish="end_turn"),
    _row("false-finish", "finish", "tool_calls without any call", finish="tool_calls"),
    # markup instead of native calls
    _row("markers", "markup", "the family's markup in content", calls_in="content"),
    _row("markers-reasoning", "markup", "markup in the reasoning field", calls_in="reasoning"),
    _row("markers-cut", "markup", "markup in content, one character a delta", calls_in="content", piece=1),
    _row("markers-both", "markup", "native calls, and the same ones as markup", calls_in="both"),
    _row("singular-section", "markup", "tool_call_section", calls_in="content", grammar="singular", families=_K2),
    _row("bare-calls", "markup", "no section markers", calls_in="content", grammar="bare", families=_K2),
    _row("open-calls", "markup", "no end marker of a call", calls_in="content", grammar="open", families=_K2),
    _row("open-section", "markup", "no end markers at the end", calls_in="content", grammar="unclosed"),
    _row("two-sections", "markup", "a section for each call", calls_in="content", grammar="two", families=_K2),
    _row("spaced-markers", "markup", "blanks around all parts", calls_in="content", grammar="spaced", families=_K2),
    _row("short-headers", "markup", "headers <name>:<n>", calls_in="content", grammar="short", families=_K2),
    _row("safe-headers", "markup", "headers functions_<name>_<n>", calls_in="content", grammar="safe", families=_K2),
    _row("number-headers", "markup", "headers <n>", calls_in="content", grammar="number", families=_K2),
    _row("json-block", "markup", "one json child a call", calls_in="content", grammar="json", families=_K3),
    _row("think-around", "markup", "tools opened inside think", calls_in="content", grammar="around", families=_K3),
    _row("think-tags", "markup", "reasoning as <think> tags in content", think="tags", families=_K2),
    _row(
        "think-open", "markup", "calls in an unclosed <think>", think="open", calls_in="content", families=_K2
    ),
    # shapes of native calls
    _row("no-index", "shape", "call deltas without index", index="missing"),
    _row("same-index", "shape", "one index for all calls", index="same"),
    _row("object-arguments", "shape", "arguments as an object", arguments="object"),
    _row("whole-calls", "shape", "each call in one delta", arguments="once"),
    _row("no-arguments", "shape", "calls without arguments", arguments="none"),
    _row("id-every-delta", "shape", "id and name on every delta of a call", tail="id"),
    _row("null-tail", "shape", "null id, type and name on later deltas", tail="null"),
    _row("empty-tail", "shape", "empty id, type and name on later deltas", tail="empty"),
    _row("prefixed-names", "shape", "function.name is functions.<name>:<n>", names="prefixed"),
    _row("usage-in-choices", "shape", "usage in choices[0]", usage="choices"),
    # framing
    _row("ndjson", "framing", "NDJSON instead of server-sent events", framing="ndjson"),
    _row("document", "framing", "one document where a stream was asked for", shape="document"),
    _row("stream", "framing", "a stream where a document was asked for", shape="stream"),
    _row("no-done", "framing", "no [DONE]", done=False),
    _row("crlf", "framing", "CRLF line ends", framing="crlf"),
    _row("no-space", "framing", "no blank after data:", framing="nospace"),
    _row("comments", "framing", "comments between the events", framing="comments"),
    _row("byte-chunks", "framing", "every byte an HTTP chunk of its own", framing="bytes"),
    _row("one-write", "framing", "the whole stream in one HTTP chunk", framing="one"),
    # faults
    _row("slow", "fault", "0.05 s between the pieces", pause=0.05),
    _row("broken", "fault", "the connection ends in the middle", fault="cut"),
    _row("broken-chunk", "fault", "a chunk size that is no number", fault="chunk"),
    _row("stalled", "fault", "silence in the middle, for ever", fault="stall"),
    _row("error-mid", "fault", "an error event in the middle", fault="error"),
    _row("429", "fault", "always 429 (rate_limit_reached_error)", fault="429"),
    _row("429-once", "fault", "429 for the first try of each request", fault="429-once"),
    _row("500", "fault", "always 500", fault="500"),
    _row("500-once", "fault", "500 for the first try of each request", fault="500-once"),
    _row("quota", "fault", "429 that is final (exceeded_current_quota_error)", fault="quota"),
    _row("overloaded-once", "fault", "engine_overloaded_error for the first try", fault="overloaded-once"),
)  # fmt: skip
BY_NAME: Final = {row.name: row for row in ROWS}

_GENERATION: Final = (
    (re.compile(r"(?:^|kimi.*[-/])k3"), "k3"),
    (re.compile(r"k2[.p-]?7"), "k2.7"),
    (re.compile(r"k2[.p-]?6"), "k2.6"),
    (re.compile(r"k2[.p-]?5"), "k2.5"),
    (re.compile(r"k2.*thinking"), "k2-thinking"),
    (re.compile(r"k2"), "k2"),
    (re.compile(r"moonshot-v1"), "moonshot-v1"),
)


class UnknownModel(ValueError):
    """No such behaviour; the message says which one is near."""


def generation_of(name: str) -> str:
    """The generation that a model's name speaks of; K2 if it speaks of none."""
    lowered = name.lower().replace("_", "-")
    return next((generation for pattern, generation in _GENERATION if pattern.search(lowered)), "k2")


def rows_of(words: str) -> list[Row]:
    """`strict-foreign-ids` as rows. The longest name wins."""
    rows: list[Row] = []
    rest = words.lower().replace("_", "-").strip("-")
    while rest:
        fitting = [name for name in BY_NAME if rest == name or rest.startswith(name + "-")]
        if not fitting:
            near = difflib.get_close_matches(rest, BY_NAME, 1)
            raise UnknownModel(f"the simulator cannot play {rest!r}" + (f", did you mean {near[0]!r}?" if near else ""))
        name = max(fitting, key=len)
        rows.append(BY_NAME[name])
        rest = rest[len(name) :].strip("-")
    return rows


def behaviour_of(model: str, also: str = "") -> Behaviour:
    """What a model's name asks for, on top of the rows in `also`. Raises UnknownModel."""
    name = model.rsplit("/", 1)[-1].rsplit(",", 1)[-1]
    told, found, words = name.partition("-sim")
    behaviour = Behaviour(generation=generation_of(told))
    for row in [*rows_of(also), *(rows_of(words) if found else [])]:
        behaviour = replace(behaviour, **row.fields)
    return behaviour


def model_name(generation: str, *rows: str) -> str:
    """The name that plays these rows: `model_name("k2.5", "strict")` is `kimi-k2.5-sim-strict`."""
    start = generation if generation.startswith("moonshot") else f"kimi-{generation}"
    return "-".join([f"{start}-sim", *rows])


def listed_models() -> list[str]:
    """The names shown by `GET /v1/models`: each generation clean, and each row once."""
    clean = [model_name(generation) for generation in GENERATIONS]
    return clean + [model_name(row.families[0], row.name) for row in ROWS if row.group not in ("host",)]
