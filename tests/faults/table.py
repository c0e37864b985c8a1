"""The outcome of each fault of the upstream for the client.

A row names the fault (with options that make it small), the outcome for a streamed request, and the outcome for a
non-streamed one. `OK` is a correct answer, a number is the status of an error response, `IN_BAND_ERROR` is one terminal
error inside the stream. Where a row has several outcomes, each of them is correct: a stream that breaks early may have
been read completely before status 200 was sent, and then the error has its own status.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.support.client_view import IN_BAND_ERROR, OK, Outcome

Outcomes = Outcome | tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Row:
    fault: str  # with options: sse_big_line~mb=1
    streamed: frozenset[Outcome]
    whole: frozenset[Outcome]

    @property
    def name(self) -> str:
        return self.fault.partition("~")[0]


def _row(fault: str, streamed: Outcomes, whole: Outcomes | None = None) -> Row:
    def as_set(outcomes: Outcomes) -> frozenset[Outcome]:
        return frozenset(outcomes if isinstance(outcomes, tuple) else (outcomes,))

    return Row(fault, as_set(streamed), as_set(streamed if whole is None else whole))


SANE: Final = (
    _row("ok", OK),
    _row("echo", OK),
    _row("ok_tools", OK),
    _row("k2_markers", OK),
    _row("ndjson", OK),
)
CONNECTIONS: Final = (
    _row("close_no_bytes", 502),
    _row("reset_before_headers", 502),
    _row("reset_mid_headers", 502),
    _row("reset_mid_body", 502),
    _row("close_mid_body", 502),
    _row("reset_mid_stream", (IN_BAND_ERROR, 502), 502),
    _row("truncated_chunked", (IN_BAND_ERROR, 502), 502),
    _row("truncated_in_chunk", 502),
    _row("hang_no_headers", 504),
    _row("hang_mid_headers", 504),
    _row("hang_after_headers", 504),
    _row("hang_mid_body", 504),
    _row("hang_mid_stream", (IN_BAND_ERROR, 504), 504),
    _row("hang_after_done", OK, OK),
    _row("slow_headers~delay=0.001", OK),
    _row("slow_drip~delay=0", OK),
    _row("slow_events~n=3~delay=0.01", OK),
    _row("half_close", OK),
    _row("keepalive_close_race", OK),
    _row("keepalive_stale", OK),
    _row("early_413", 413),
    _row("no_read", 504),
    _row("double_response", OK),
)
FRAMING: Final = (
    _row("close_delimited", OK),
    _row("cl_too_small", 502),
    _row("cl_twice", 502),
    _row("cl_negative", 502),
    _row("cl_huge", 502),
    _row("te_and_cl", 502),
    _row("te_unknown", 502),
    _row("chunk_size_bad", 502),
    _row("chunk_size_huge", 502),
    _row("chunk_ext_trailers", OK),
    _row("status_line_bad", 502),
    _row("not_http", 502),
    _row("http09", 502),
    _row("header_bad", 502),
    _row("giant_header", 502),
    _row("many_headers", 502),
    _row("early_hints", OK),
    _row("interim_flood", (OK, 502)),
    _row("switch_101", 502),
    _row("no_content_204", 502),
    _row("endless_headers", 502),
    _row("tiny_chunks", OK),
)
STATUSES: Final = (
    _row("status", 500),
    _row("leaky_401", (401, 502)),
    _row("r429_seconds", 429),
    _row("r429_date", 429),
    _row("r429_ms", 429),
    _row("r429_long", 429),
    _row("r429_junk", 429),
    _row("r429_negative", 429),
    _row("r429_overflow", 429),
    _row("r429_bare", 429),
    _row("storm~n=1000", 500),
    _row("html_502", 502),
    _row("html_200", 502),
    _row("huge_error~mb=3", 500),
    _row("error_string", 400),
    _row("error_in_200", 502),
    _row("redirect", 502),
    _row("redirect_same", 502),
    _row("redirect_loop", 502),
    _row("redirect_file", 502),
)
BODIES: Final = (
    _row("empty_200", 502),
    _row("json_invalid", 502),
    _row("json_array", 502),
    _row("json_null", 502),
    _row("json_no_choices", 502),
    _row("json_choices_empty", 502),
    _row("json_types_wrong", 502),
    _row("json_args_object", (OK, 502)),
    _row("json_deep", 502),
    _row("json_bigint", 502),
    _row("json_nan", 502),
    _row("json_dup_keys", 502),
    _row("json_surrogate", OK),
    _row("json_nul", OK),
    _row("json_bom", OK),
    _row("json_utf16", (OK, 502)),
    _row("utf8_invalid", 502),
    _row("ctype_text", OK),
    _row("ctype_none", OK),
    _row("json_for_stream", OK),
    _row("gzip_ok", (OK, 502)),
    _row("deflate_ok", (OK, 502)),
    _row("gzip_lie", 502),
    _row("gzip_cut", 502),
    _row("gzip_bomb~mb=8", 502),
    _row("gzip_members", (OK, 502)),
    _row("gzip_twice", 502),
    _row("encoding_unknown", 502),
    _row("marker_flood~n=2000", OK),
    _row("set_cookie", OK),
    _row("huge_json~mb=3", 502),
)
STREAMS: Final = (
    _row("sse_empty", 502),
    _row("sse_done_only", 502),
    _row("sse_error_first", (500, 502)),
    _row("sse_error_mid", (IN_BAND_ERROR, 500, 502), (500, 502)),
    _row("sse_error_mid_done", (IN_BAND_ERROR, 500, 502), (500, 502)),
    _row("sse_event_error", (IN_BAND_ERROR, 502), 502),
    _row("sse_finish_error", (IN_BAND_ERROR, 502), 502),
    _row("sse_no_done", OK),
    _row("sse_no_finish", (IN_BAND_ERROR, 502), 502),
    _row("sse_done_no_finish", OK),
    _row("sse_after_done", OK),
    _row("sse_cut_event", (OK, IN_BAND_ERROR), (OK, 502)),
    _row("sse_crlf", OK),
    _row("sse_cr", OK),
    _row("sse_bom", OK),
    _row("sse_fields", OK),
    _row("sse_multiline", OK),
    _row("sse_split_utf8", OK),
    _row("sse_one_write", OK),
    _row("sse_invalid_utf8", OK),
    _row("sse_invalid_json", (IN_BAND_ERROR, 502), 502),
    _row("sse_json_types", (IN_BAND_ERROR, 502), 502),
    _row("sse_nul", OK),
    _row("sse_gzip", (OK, 502)),
    _row("sse_wrong_ctype", (OK, 502)),
    _row("sse_for_json", OK),
    _row("sse_tool_index", OK),
    _row("sse_tool_interleaved", OK),
    _row("sse_tool_cut", OK),
    _row("sse_tool_bad_ids", OK),
    _row("sse_marker_cut", OK),
    _row("sse_marker_flood~n=500", OK),
    _row("sse_big_line~mb=1", (IN_BAND_ERROR, 502), (OK, 502)),
    _row("sse_big_event~n=40000", 502),
    _row("sse_endless", (IN_BAND_ERROR, 502), 502),
    _row("sse_flood~n=2000", OK),
    _row("sse_comments_only~delay=0.05", (IN_BAND_ERROR, 504), 504),
    _row("sse_pings_then_ok~n=2~delay=0.05", OK),
    _row("anthropic_error_mid", (IN_BAND_ERROR, 500, 502), (500, 502)),
    _row("anthropic_cut", (IN_BAND_ERROR, 502), 502),
    _row("responses_failed_mid", (IN_BAND_ERROR, 500, 502), (500, 502)),
    _row("responses_error_mid", (IN_BAND_ERROR, 500, 502), (500, 502)),
    _row("responses_cut", (IN_BAND_ERROR, 502), 502),
)
TABLE: Final = (*SANE, *CONNECTIONS, *FRAMING, *STATUSES, *BODIES, *STREAMS)
