"""The table of what the simulator can reproduce. Each row changes a few fields of a `Behaviour` (behaviours.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from moongate.kimi.hosts import HOST_NAMES

MARKUP_FAMILIES: Final = ("k2", "k3")  # those whose markup is in markup.py
HOSTS: Final = HOST_NAMES  # a host without rules in this package is played as "generic"


@dataclass(frozen=True, slots=True)
class Row:
    """One behaviour that a model name can select. A field whose value is a tuple is added to, others are replaced."""

    name: str
    group: str
    about: str
    fields: Mapping[str, Any]
    families: tuple[str, ...] = ()  # those that can play it; (): all

    @property
    def example_family(self) -> str:
        """One that can play it."""
        return self.families[0] if self.families else "k2"


def _row(name: str, group: str, about: str, **fields: Any) -> Row:
    families = fields.pop("families", MARKUP_FAMILIES if group == "markup" else ())
    return Row(name, group, about, fields, families)


def _refusing(name: str, check: str, about: str) -> Row:
    return _row(name, "refusal", about, refuses=(check,))


def _damaging(name: str, about: str, kind: str = "") -> Row:
    return _row(name, "damage", about, damage=(kind or name,))


_K2 = ("k2",)
_K3 = ("k3",)

ROWS: Final[tuple[Row, ...]] = (
    _row("clean", "mode", "nothing wrong", fault=""),
    _row("strict", "mode", "refuses histories with ids that the model could not read", strict=True),
    _row("strict-count", "mode", "strict, and the numbers of ids must rise", strict=True, rising=True),
    _row("walls", "mode", "on host moonshot: refuses what Moonshot's API refuses, in its words",
         moonshot_validation=True),
    _row("long", "mode", "five answers instead of three", answers=5),
    _row("awkward", "mode", "quotes, line ends, emoji and markup inside arguments", awkward=True),
    _row("max-tokens", "mode", "ends with length where max_tokens are used up; reasoning counts", max_tokens=True),
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
    _row("markers-bundled", "markup", "markup in content, all in one delta", calls_in="content", piece=1_000_000),
    _row("markers-both", "markup", "native calls, and the same ones as markup", calls_in="both"),
    _row("seam-header", "markup", "markup in reasoning that goes on in content, cut in the first header",
         calls_in="seam", seam="header"),
    _row("seam-arguments", "markup", "the same, cut in the first arguments", calls_in="seam", seam="arguments"),
    _row("seam-end", "markup", "the same, cut between the last call and the section's end",
         calls_in="seam", seam="end"),
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
    _row("joined-markup", "markup", "<|open|>toolscall tool=… and <|close|>toolsmessage<|sep|>",
         calls_in="content", grammar="joined", families=_K3),
    _row("no-sep", "markup", "<|close|>think without <|sep|>", calls_in="content", grammar="nosep", families=_K3),
    _row("think-tags", "markup", "reasoning as <think> tags in content", think="tags", families=_K2),
    _row("think-empty", "markup", "the same, beside an empty reasoning field", think="tags", empty_reasoning=True,
         families=_K2),
    _row("think-open", "markup", "calls in an unclosed <think>", think="open", calls_in="content", families=_K2),
    _row("code-tags", "markup", "texts with <think> and <|im_end|> inside code spans and fences", code_tags=True),
    # shapes of native calls
    _row("no-index", "shape", "call deltas without index", index="missing"),
    _row("same-index", "shape", "one index for all calls", index="same"),
    _row("object-arguments", "shape", "arguments as an object", arguments="object"),
    _row("whole-calls", "shape", "each call in one delta", arguments="once"),
    _row("no-arguments", "shape", "calls without arguments", arguments="none"),
    _row("silent-arguments", "shape", "1 s of silence before the arguments, as minutes on real hosts",
         arguments="late", silence=1.0),
    _row("id-every-delta", "shape", "id and name on every delta of a call", tail="id"),
    _row("null-tail", "shape", "null id, type and name on later deltas", tail="null"),
    _row("empty-tail", "shape", "empty id, type and name on later deltas", tail="empty"),
    _row("prefixed-names", "shape", "function.name is functions.<name>:<n>", names="prefixed"),
    _row("split-names", "shape", "function.name in two deltas", names="split"),
    _row("nameless-deltas", "shape", "one more call without a name behind the others", nameless="extra"),
    _row("nameless-calls", "shape", "calls that never get a name", nameless="all"),
    _row("custom-calls", "shape", "calls of type custom, whatever was offered", custom=True),
    # usage
    _row("usage-in-choices", "usage", "usage in choices[0]", usage="choices"),
    _row("cache-writes", "usage", "prompt_tokens_details.cache_write_tokens", cache_writes="details"),
    _row("cache-writes-top", "usage", "usage.cache_write_tokens", cache_writes="top"),
    _row("cache-creation", "usage", "usage.cache_creation_input_tokens", cache_writes="creation"),
    _row("cache-creation-details", "usage", "prompt_tokens_details.cache_creation_input_tokens",
         cache_writes="creation-details"),
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
    # single refusals, on any host: what a gateway learns from
    _row("relay", "refusal", "everything that Moonshot refuses, under another host's name", relay=True),
    _refusing("needs-reasoning", "reasoning", "reasoning_content is missing in assistant tool call message"),
    _refusing("fixed-sampling", "sampling", "invalid temperature: only 1 is allowed (and top_p, n, penalties)"),
    _refusing("no-forced-choice", "choice", "tool_choice 'required' is incompatible with thinking enabled"),
    _refusing("no-thinking-field", "thinking", "invalid thinking"),
    _refusing("three-efforts", "effort", "an effort other than low, high, max"),
    _refusing("schema-wall", "schema", "not a valid moonshot flavored json schema"),
    _row("schema-wall-ultra", "refusal", "the same at the validator's strictest level", refuses=("schema",),
         schema_level="ultra"),
    _refusing("name-wall", "names", "function name is invalid"),
    _refusing("no-max-tokens", "max_tokens", "max_tokens is not supported, use max_completion_tokens"),
    _refusing("no-max-completion-tokens", "max_completion_tokens", "the reverse"),
    _refusing("no-dynamic-tools", "dynamic", "tokenization failed, where a message has tools"),
    _row("fixed-temperature", "refusal", "with walls: one temperature, as in October 2026", temperature="fixed"),
    _row("temperature-range", "refusal", "with walls: temperatures from 0 to 1, as the vendor verifier wants",
         temperature="range"),
    _row("named-refused", "refusal", "with walls on K3: a named tool_choice is refused, not passed over",
         named="refused"),
    # damaged turns
    _damaging("wrong-types", "a value of another type than its schema says"),
    _damaging("missing-required", "a required property is left out"),
    _damaging("unknown-properties", "a property that the schema does not allow"),
    _damaging("enum-near-misses", "an enum value in other case"),
    _damaging("json-in-text", "arguments that are a JSON text of a JSON object"),
    _damaging("broken-json", "arguments without their last character"),
    _damaging("unknown-tools", "a tool that was not offered"),
    _damaging("near-tool-names", "the name of a tool in other case, with - for _"),
    _damaging("lost-names", "calls without a name"),
    _damaging("missing-calls", "a text where a call was due"),
    _damaging("empty-turns", "neither text nor calls"),
    _row("leaked-markers", "damage", "calls as markup in content", damage=("leaked-markers",),
         families=MARKUP_FAMILIES),
    _damaging("wrong-finishes", "stop beside calls"),
    _damaging("needless-calls", "calls where a text was due"),
    _row("second-try", "damage", "a damaged turn is right when the same request comes again", recovery="second"),
    _row("after-error", "damage", "a damaged turn is right only when its error comes back as a result",
         recovery="error"),
    _row("never-right", "damage", "a damaged turn is damaged each time", recovery="never"),
)  # fmt: skip
BY_NAME: Final = {row.name: row for row in ROWS}
