"""The regular expressions of src: how those that read foreign text are applied, and which read none."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from fnmatch import translate
from typing import Any

from moongate.dialects.anthropic_messages.ids import client_call_id, provider_call_id
from moongate.dialects.anthropic_messages.partial import readable_object
from moongate.dialects.anthropic_messages.tokens import text_tokens
from moongate.errors import UpstreamRefused
from moongate.fast.envelope import _FIELDS
from moongate.gateway.config.passthrough_settings import is_plain
from moongate.gateway.http.error_page import page_text
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.http.spelling import fold_widely
from moongate.gateway.http.upstream_errors import is_quota, upstream_error
from moongate.gateway.inspect import capturing
from moongate.kimi.answer.argument_names import ArgumentNames
from moongate.kimi.generations import recognise_model
from moongate.kimi.guard.tool_schemas import ToolSchemas
from moongate.kimi.markers.arguments import ArgumentsRepair
from moongate.kimi.markers.call_headers import MAX_HEADER_CHARS
from moongate.kimi.markers.code_spans import _RUNS
from moongate.kimi.markers.first_markup import _first_markup
from moongate.kimi.markers.k2_markers import K2Markers
from moongate.kimi.markers.k3_tags import IN_BODY, IN_TAG, MAX_TAG_CHARS, OUTSIDE, attributes
from moongate.kimi.options import KimiOptions
from moongate.kimi.refusals import recognise_refusal
from moongate.kimi.schema.references import _unescaped
from moongate.kimi.tool_tokens import ToolTokens
from moongate.transformers.exit_text import ExitText
from moongate.transformers.tolerant_json import tolerant_object
from moongate.verify.junit_report import junit_head
from moongate.verify.observation import observed
from moongate.wire.sse import SseDecoder

Run = Callable[[str], object]

# The texts are made of these, repeated, with nothing or an odd character behind them.
PUMPS = (
    *("<", ">", "a", "1", " ", "-", "_", ".", ":", ",", '"', "\\", "\n", "\r", "[", "{", "%", "$", "é", "漢", "A", "`"),
    *(
        "a1",
        "a-",
        "-1",
        "_1",
        "1.",
        "a=",
        ' "',
        "\r\n",
        "\n\r",
        "\\u",
        '\\"',
        "<a",
        "</",
        "a b",
        "1,",
        "x\n\n",
        "data:\n",
    ),
    *("<script>", "</head>", "<head", "after 1", "wait ", "account ", "token limit", "must be", "prompt ", "input "),
    *(
        "kimi",
        "kimi-",
        "k2 ",
        "functions.",
        "functions_",
        "functions.a:1",
        "<|open|>",
        "<|close|>",
        "<|sep|>",
        "data: ",
    ),
    *(
        "<|open|>call<|sep|>",
        "<|open|>call ",
        "<|tool_call_begin|>",
        "<|tool_calls_section_begin|>",
        '"a":',
        '"content":"',
    ),
    *("exceed", "context ", "maximum model ", "quota ", "insufficient ", "Host", "data: \n\n", "event", "\ndata", "--"),
)
ENDS = ("", "!")


def _of(module: str, name: str, *methods: str) -> Run:
    """Applies a pattern of a module as the module does."""
    found = getattr(importlib.import_module(f"moongate.{module}"), name)
    binary = isinstance(getattr(found, "pattern", ""), bytes)

    def run(text: str) -> None:
        subject: Any = text.encode("utf-8", "replace") if binary else text
        for method in methods:
            apply = getattr(found, method)
            if method == "finditer":
                for _ in apply(subject):
                    pass
            else:
                apply(b"" if binary else "", subject) if method == "sub" else apply(subject)

    return run


def _matcher(module: str, name: str) -> Run:
    """Applies a bound `match` or `search` of a module at the beginning, as str or as bytes."""
    found = getattr(importlib.import_module(f"moongate.{module}"), name)
    binary = isinstance(found.__self__.pattern, bytes)
    return lambda text: found(text.encode("utf-8", "replace") if binary else text)


def _sse(text: str) -> None:
    SseDecoder().feed(text.encode())


def _arguments(text: str) -> None:
    names = ArgumentNames({"t": {f"a_{number}": "/" for number in range(16)}})
    names.message({"tool_calls": [{"function": {"name": "t", "arguments": text}}]})


def _repair(text: str) -> None:
    ArgumentsRepair().feed('"\n' + text)


_K2 = K2Markers.of(ToolTokens())


def _lexers(text: str) -> None:
    for lexer in (_K2.outside, _K2.header, _K2.arguments, OUTSIDE, IN_TAG, IN_BODY):
        at = 0
        while (found := lexer.find(text, at, True)) is not None:
            at = found.end()


def _k2_patterns(text: str) -> None:
    for pattern in (_K2.sections, _K2.blocks):
        assert pattern is not None
        pattern.match(text)


def _fields(text: str) -> None:
    for pattern in _FIELDS.values():
        pattern.search(text.encode())


def _alias(text: str) -> None:
    re.compile(translate("*a*a-?*1*_*")).match(text)  # as the routes do with an alias


def _exit_text(text: str) -> None:
    for arguments in (text, '{"response": "' + text):
        reader = ExitText()
        reader.feed(arguments)
        reader.close()


def _tolerant(text: str) -> None:
    for begin in ("", '{"a":', "{'a': '", "{a: [", "{ //"):
        tolerant_object(begin + text)


def _event_ends(text: str) -> None:
    for found in capturing._EVENT_END.values():
        for _ in found.finditer(text.encode("utf-8", "replace")):
            pass


def _answer(text: str) -> dict[str, object]:
    return {"choices": [{"message": {"content": f"<|{text}"}}]}


def _called(text: str) -> dict[str, object]:
    return {"choices": [{"message": {"tool_calls": [{"id": text}]}}]}


FOREIGN: dict[str, Run] = {
    "gateway/inspect/capturing:_EVENT_END": _event_ends,
    "gateway/inspect/capture_store:_SAFE": _of("gateway.inspect.capture_store", "_SAFE", "sub"),
    "gateway/store/fields:_TEXT": _of("gateway.store.fields", "_TEXT", "match"),
    "gateway/store/fields:_SURROGATE": _of("gateway.store.fields", "_SURROGATE", "search"),
    "gateway/ui/request_row:_PROVIDER": _of("gateway.ui.request_row", "_PROVIDER", "sub"),
    "gateway/ui/markup:_MISLEADING": _of("gateway.ui.markup", "_MISLEADING", "sub"),
    "gateway/ui/exchange_view:_EVENT_END": _of("gateway.ui.exchange_view", "_EVENT_END", "split"),
    "gateway/ui/exchange_view:_PATH_PART": _of("gateway.ui.exchange_view", "_PATH_PART", "findall"),
    "dialects/nesting:_MARKS": _of("dialects.nesting", "_MARKS", "finditer"),
    "dialects/chat_answer:_UNSAFE": _of("dialects.chat_answer", "_UNSAFE", "sub"),
    "dialects/overflow:_WORDS": _of("dialects.overflow", "_WORDS", "search"),
    "dialects/overflow:_NUMBER": _of("dialects.overflow", "_NUMBER", "finditer"),
    "dialects/overflow:_LIMIT": _of("dialects.overflow", "_LIMIT", "search"),
    "dialects/overflow:_whole_number": lambda text: text,  # of at most 15 digits
    "dialects/anthropic_messages/ids:_SAFE": client_call_id,
    "dialects/anthropic_messages/ids:_NUMBERED_ID": client_call_id,
    "dialects/anthropic_messages/ids:_ENCODED_NUMBERED_ID": provider_call_id,
    "dialects/anthropic_messages/ids:_UNSAFE_BYTE": client_call_id,
    "dialects/anthropic_messages/ids:_HEX_BYTE": provider_call_id,
    "dialects/anthropic_messages/tokens:_piece": text_tokens,
    "dialects/anthropic_messages/partial:_LONG_NUMBER": readable_object,
    "dialects/anthropic_messages/partial:_TOKEN": lambda text: readable_object('{"a":[' + text),
    "dialects/anthropic_messages/partial:_SCALAR": lambda text: readable_object('{"a":[1, ' + text),
    "net/client:REQUEST": _of("net.client", "REQUEST", "fullmatch"),
    "net/dial:_tunnel": lambda text: text,  # matches a fixed beginning
    "gateway/server/known_heads:LENGTH": _of("gateway.server.known_heads", "LENGTH", "search"),
    "gateway/http/host_policy:_HOST": _of("gateway.http.host_policy", "_HOST", "fullmatch"),
    "gateway/http/error_page:_HIDDEN": page_text,
    "gateway/http/error_page:TAG": page_text,
    "gateway/http/upstream_errors:_AFTER": lambda text: upstream_error(503, {}, text.encode()),
    "gateway/http/upstream_errors:_QUOTA": lambda text: is_quota(UpstreamRefused(text, status=429)),
    "gateway/http/upstream_errors:_retry_after": lambda text: upstream_error(503, {b"retry-after": text.encode()}, b""),
    "gateway/http/answer_headers:_UNPRINTABLE": _of("gateway.http.answer_headers", "_UNPRINTABLE", "sub"),
    "gateway/http/client_address:_FORWARDED_FOR": _of("gateway.http.client_address", "_FORWARDED_FOR", "search"),
    "gateway/http/spelling:_TAG": _of("gateway.http.spelling", "_TAG", "sub"),
    "gateway/http/spelling:_NO_CODE": _of("gateway.http.spelling", "_NO_CODE", "sub"),
    "gateway/http/spelling:_JSON_CODE": _of("gateway.http.spelling", "_JSON_CODE", "finditer"),
    "gateway/http/spelling:_CODE": fold_widely,
    "gateway/http/spelling:_URL_CODE": fold_widely,
    "gateway/http/spelling:_COLOUR": fold_widely,
    "gateway/http/spelling:_URL_ESCAPE": _of("gateway.http.spelling", "_URL_ESCAPE", "finditer"),
    "gateway/http/spelling:_HTML_ESCAPE": _of("gateway.http.spelling", "_HTML_ESCAPE", "finditer"),
    "gateway/http/spelling:_OTHER": _of("gateway.http.spelling", "_OTHER", "sub"),
    "gateway/http/spelling:_TOKEN": _of("gateway.http.spelling", "_TOKEN", "finditer"),
    "gateway/http/answer_headers:_NO_WORD": _of("gateway.http.answer_headers", "_NO_WORD", "sub"),
    "gateway/http/redaction:AnyOf.__init__": Redactor(["a" * 20, "secret-1", '"quoted"']).redact,
    "gateway/app:_REQUEST_ID": _of("gateway.app", "_REQUEST_ID", "fullmatch"),
    "gateway/routing/routes:Routes._add_alias": _alias,
    "gateway/config/passthrough_settings:is_plain": lambda text: is_plain("/" + text),
    "kimi/schema/references:_unescaped": _unescaped,
    "kimi/schema/references:References._name": lambda text: re.sub(r"[/~%]", "_", text),
    "kimi/schema/property_names:PropertyNames._free_name": lambda text: re.sub(r"[^A-Za-z0-9_-]+", "_", text),
    "kimi/request/tool_names:_free_name": lambda text: re.sub(r"[^A-Za-z0-9_-]+", "_", text),
    "kimi/guard/pattern_syntax:_GROUP": _of("kimi.guard.pattern_syntax", "_GROUP", "match"),
    "kimi/guard/pattern_syntax:_CODE": _of("kimi.guard.pattern_syntax", "_CODE", "match"),
    "kimi/guard/pattern_syntax:_COUNT": _of("kimi.guard.pattern_syntax", "_COUNT", "match"),
    "kimi/markers/lexer:Lexer.__init__": _lexers,
    "kimi/markers/k2_markers:_sections": _k2_patterns,
    "kimi/markers/k2_markers:_blocks": _k2_patterns,
    "kimi/generations:_row": recognise_model,
    "kimi/refusals:_compiled": lambda text: recognise_refusal(text, KimiOptions()),
    "fast/envelope:_FIELDS": _fields,
    "kimi/ids:_ID_LIKE_NAME": _of("kimi.ids", "_ID_LIKE_NAME", "fullmatch"),
    "kimi/request/tool_names:MOONSHOT_NAME": _of("kimi.request.tool_names", "MOONSHOT_NAME", "fullmatch"),
    "kimi/markers/code_spans:_RUNS": lambda text: list(_RUNS(text)),
    "kimi/markers/first_markup:_first_markup": _first_markup(ToolTokens()),
    "kimi/markers/json_scan:_PLAIN": _matcher("kimi.markers.json_scan", "_PLAIN"),
    "kimi/markers/json_scan:_OPENING": _matcher("kimi.markers.json_scan", "_OPENING"),
    "kimi/markers/json_scan:_CLOSING": _matcher("kimi.markers.json_scan", "_CLOSING"),
    "kimi/markers/k2_fast:_NO_JSON": _matcher("kimi.markers.k2_fast", "_NO_JSON"),
    "kimi/markers/k3_fast:_CHILDREN": _matcher("kimi.markers.k3_fast", "_CHILDREN"),
    "kimi/markers/k3_fast:_SOME_CALLS": _matcher("kimi.markers.k3_fast", "_SOME_CALLS"),
    "kimi/markers/k3_fast:_MANY_CALLS": _matcher("kimi.markers.k3_fast", "_MANY_CALLS"),
    "kimi/markers/k3_tags:_ATTRIBUTE": lambda text: attributes(text[:MAX_TAG_CHARS]),
    "kimi/markers/call_headers:_STANDARD": lambda text: _matcher("kimi.markers.call_headers", "_STANDARD")(
        text[:MAX_HEADER_CHARS]
    ),
    "kimi/markers/call_headers:_UNDERSCORES": _matcher("kimi.markers.call_headers", "_UNDERSCORES"),
    "kimi/markers/call_headers:_NO_SEPARATORS": _matcher("kimi.markers.call_headers", "_NO_SEPARATORS"),
    "kimi/markers/arguments:find_control": _matcher("kimi.markers.arguments", "find_control"),
    "kimi/markers/arguments:_SPLIT_SUB": _repair,
    "kimi/generations:normalise_name": recognise_model,
    "kimi/schema/property_names:SENT_NAME": _arguments,
    "wire/sse:_EVENT_END": _sse,
    "wire/sse:_LAST_END": _of("wire.sse", "_LAST_END", "search"),
    "wire/sse:_BLANK_LINES": _sse,
    "wire/sse:_LINE_END": _of("wire.sse", "_LINE_END", "finditer"),
    "wire/sse:_FIELD": _of("wire.sse", "_FIELD", "finditer"),
    "wire/sse:_EMPTY_EVENTS": _matcher("wire.sse", "_EMPTY_EVENTS"),
    "wire/fast:JSON_TEXT": _of("wire.fast", "JSON_TEXT", "match"),
    "fast/envelope:_TEXTS": _of("fast.envelope", "_TEXTS", "match"),
    "transformers/exit_text:_HEAD": _exit_text,
    "transformers/exit_text:_CHARACTERS": _exit_text,
    "transformers/exit_text:_decoded": _exit_text,
    **{
        f"transformers/tolerant_json:{name}": _tolerant for name in ("_BLANK", "_STRING", "_NAME", "_NUMBER", "_ESCAPE")
    },
    "verify/observation:_CODE": lambda text: observed(_answer(text), {}, ToolSchemas()),
    "verify/observation:_MARKERS": lambda text: observed(_answer(text), {}, ToolSchemas()),
    "verify/observation:_SHAPES": lambda text: observed(_called(text), {}, ToolSchemas()),
    "verify/junit_report:_NOT_XML": junit_head,
}

OPERATOR = {
    "verify/budget:_MONEY",
    "verify/budget:_TOKENS",
    "gateway/ui/vendor_figures:_LABEL",
    "gateway/config/endpoint:_VERSION",
    "gateway/trace/otel_environment:_HEADER_NAME",
    "gateway/config/endpoint:resolve_endpoint",
    "gateway/config/foreign:_MODEL_LIST",
    "gateway/config/foreign:_PROVIDERS",
    "gateway/config/load:_NAMES_MODELS",
    "gateway/config/proxy:environment_proxy",
    "gateway/transformers:_built_in",
    "gateway/config/excerpt:_TOKEN",
    "gateway/config/jsonc:_BLANK",
    "gateway/config/jsonc:_PLAIN_KEY",
    "gateway/config/jsonc:_SCALAR",
    "gateway/config/secrets:_VARIABLE",
    "gateway/config/secrets:_VISIBLE_ASCII",
    "gateway/config/shapes:TextSetting.read",
    "gateway/limits/periods:_DAYS",
    "gateway/store/fields:_DURATION",
    "kimi/options:_ID_PREFIX",
    "transformers/options:_TAG",
    "transformers/options:_field_name",
}
