"""The fuzz target of the reader of error pages."""

from __future__ import annotations

from time import thread_time

from tests.fuzz.draw import Draw, table_of

from moongate.dialects.overflow import overflow_of
from moongate.gateway.http.redaction import Redactor
from moongate.gateway.http.upstream_errors import MAX_MESSAGE, may_retry, upstream_error

PAGE_TOKENS = table_of(
    *("a", " ", "\n", "<", ">", "/", "</", '"', "1", "é", "<b>", "</b>", "<script>", "</script>", "<style", "<head>"),
    *(
        "</head>",
        "<!--",
        "after ",
        "retry in ",
        "seconds",
        "wait 1",
        "quota",
        "account ",
        "suspended",
        "context length",
    ),
    *('{"error":', '{"message":"', '"code":', "}", "maximum ", "token limit", "\\u00", "&lt;", "\x00", "insufficient_"),
    *("\\", "%5c", "&#92;", "context length"),
)
REDACT = Redactor(["sk-quota-1-suspended", "insufficient-context"]).redact
PAGE_SIZE = 8192
PAGE_SECONDS = 0.05  # of CPU; a linear reader takes less than a hundredth of it


def error_page(data: bytes) -> None:
    """An error body that repeats any text is read in linear time, whatever the text."""
    draw = Draw(data)
    status = draw.pick((400, 401, 429, 500, 503))
    text = draw.text(PAGE_TOKENS)
    page = (text * (PAGE_SIZE // max(len(text), 1))).encode("utf-8", "replace")
    spent = []
    for _ in range(3):  # one quick round is enough: a busy machine makes a round slower, never quicker
        start = thread_time()
        error = upstream_error(status, {}, page, REDACT)
        may_retry(error)
        overflow_of(error)
        spent.append(thread_time() - start)
        if spent[-1] <= PAGE_SECONDS:
            break
    assert min(spent) <= PAGE_SECONDS, spent
    assert len(error.message) <= MAX_MESSAGE
