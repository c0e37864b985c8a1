"""The page of one request: what came, what left, and why; and its files."""

from __future__ import annotations

import asyncio
import shlex
from typing import Any, Final
from urllib.parse import quote

from moongate.errors import GatewayError, NotFound
from moongate.gateway.http.front_paths import DIALECT_BY_PATH
from moongate.gateway.ui.answer_section import answer_section
from moongate.gateway.ui.exchange_view import CHAT, notes_by_place
from moongate.gateway.ui.glance_section import glance_section
from moongate.gateway.ui.json_markup import block, cut_text, note_words
from moongate.gateway.ui.json_view import differences
from moongate.gateway.ui.layout import count, dollars, milliseconds, shell, tiles
from moongate.gateway.ui.markup import Markup, tag
from moongate.gateway.ui.request import UiContext, UiRequest, UiResponse, page
from moongate.gateway.ui.waterfall import waterfall
from moongate.payload import JsonObject, dumps, loads, object_of

MAX_CURL: Final = 256 * 1024  # characters of a body that is copied as a command
TEXT: Final = (b"content-type", b"text/plain; charset=utf-8")


async def show_request(context: UiContext, request: UiRequest) -> UiResponse:
    context.sources.recent.gather()
    recent = context.sources.recent.find(request.params["id"])
    line = None if recent is None else recent.line
    # In a thread: others have chosen what is shown, and it may be megabytes.
    return await asyncio.to_thread(_request_page, request, _captured(context, request), line)


def _request_page(request: UiRequest, data: bytes | None, recent: JsonObject | None) -> UiResponse:
    capture = None if data is None else object_of(data)
    line = recent if capture is None else capture["line"]
    if line is None:
        raise NotFound("This request is not among the last ones any more", code="no_such_request")
    content: list[object] = [_head(line), glance_section(line, capture), _numbers(line)]
    if capture is None:
        content.append(_not_captured())
    else:
        content += [
            _tools(request, capture),
            tag("section", tag("h2", "Timings"), tag("div", waterfall(capture), class_="scroll", tabindex="0",
                                                     role="region", aria_label="Timings"), id="timings"),
            _request_section(request, capture),
            answer_section(_part_url(request, "came"), _part_url(request, "left"), capture),
        ]  # fmt: skip
    return page(shell(request, f"Request {request.params['id']}", *content, scripts=("exchange.js",)))


def _captured(context: UiContext, request: UiRequest) -> bytes | None:
    return context.sources.inspector.store.get(request.params["id"])


def _head(line: JsonObject) -> Markup:
    target = f"{line['provider']},{line['model']}" if line.get("provider") else "nobody"
    return tag(
        "div",
        tag("p", tag("a", "← Requests", href="/ui/requests"), class_="back"),
        tag("h1", tag("code", str(line.get("id", ""))[:128])),
        tag("p",
            tag("span", line.get("status"), class_="chip " + ("good" if line.get("status") == 200 else "bad")),
            tag("span", line.get("worth"), class_=f"chip worth-{line['worth']}") if line.get("worth") else None,
            tag("span", line.get("client") or "no key", class_="chip"),
            tag("span", line.get("front"), " stream" if line.get("stream") else " whole", class_="chip"),
            tag("span", line.get("asked"), " → ", target, class_="path"),
            tag("time", str(line.get("time", ""))[:23].replace("T", " "), " UTC", class_="hint"), class_="chips"),
        class_="request-head",
    )  # fmt: skip


def _numbers(line: JsonObject) -> Markup:
    notes: dict[str, int] = line.get("notes") or {}
    return tiles(
        ("First byte", milliseconds(line.get("first_byte_ms"))),
        ("Duration", milliseconds(line.get("duration_ms"))),
        ("Tokens in", count(line.get("input_tokens"))),
        ("Tokens out", count(line.get("output_tokens"))),
        ("Cost", dollars(line.get("cost_usd"))),
        ("Attempts", count(line.get("attempts"))),
        ("Repairs", count(sum(notes.values()))),
    )


def _not_captured() -> Markup:
    return tag("p", "Its bodies were not captured. ", tag("a", "Capture the next requests", href="/ui/requests"),
               ", set ", tag("code", '"inspect": true'), ", or do so for one key.", class_="empty")  # fmt: skip


def _tools(request: UiRequest, capture: JsonObject) -> Markup:
    case = f"/ui/requests/{quote(request.params['id'], safe='')}/case.json"
    has_answer = any(attempt["answer"]["pieces"] for attempt in capture["attempts"])
    return tag(
        "div",
        tag("button", "▶ Replay", type="button", id="replay", class_="primary") if has_answer else None,
        tag("label", tag("span", "Speed", class_="hidden"),
            tag("select", tag("option", "real time", value="1"), tag("option", "4 ×", value="4"),
                tag("option", "20 ×", value="20"), id="speed")) if has_answer else None,
        tag("button", "Copy as test case", type="button", data_copy=case) if has_answer else None,
        tag("a", "Download it", href=case, download=f"{request.params['id'][:64]}.case.json") if has_answer else None,
        tag("button", "Copy as curl", type="button", data_copy=_part_url(request, "curl")),
        tag("span", id="copied", role="status", class_="hint"),
        class_="tools",
    )  # fmt: skip


def _request_section(request: UiRequest, capture: JsonObject) -> Markup:
    """The client's request beside what was sent."""
    came = _value(capture["request"])
    sent = capture["attempts"][-1] if capture["attempts"] else None
    left = None if sent is None else _value(sent["request"])
    notes = [note for note in capture["notes"] if note["mends"] == "client"]
    gone, new = set[str](), set[str]()
    if capture["line"].get("front") == CHAT and isinstance(came, dict) and isinstance(left, dict):
        gone, new = differences(came, left)
    placed, others = notes_by_place(left, notes)
    columns = [
        _column("came", "from the client", capture["request"], came, gone, {}, _part_url(request, "request")),
        tag("p", "Nothing was sent to a provider.", class_="empty")
        if sent is None
        else _column("left", f"to {sent['target']}", sent["request"], left, new | set(placed), placed,
                     _part_url(request, "sent")),
    ]  # fmt: skip
    more = [tag("span", note_words(note), " ", tag("code", note["where"]), class_="note") for note in others]
    head = tag("h2", "Request")
    return tag("section", head, tag("div", *columns, class_="pair"), *more, id="request")


def _column(
    word: str, about: str, body: JsonObject, value: Any, marked: set[str], notes: dict[str, list[JsonObject]], raw: str
) -> Markup:
    cut = tag("p", f"{body['cut']:,} bytes more were not kept", class_="hint") if body["cut"] else None
    shown = (
        block(value, marked, notes) if value is not None else tag("pre", cut_text(body["text"], 20_000), tabindex="0")
    )
    return tag(
        "div", tag("h3", tag("b", word), " ", about, " ", tag("a", "as text", href=raw, class_="raw")), shown, cut
    )


def _value(body: JsonObject) -> Any:
    """The JSON of a body; None if it is none."""
    try:
        return loads(body["text"])
    except ValueError:
        return None


def _part_url(request: UiRequest, part: str) -> str:
    return f"/ui/requests/{quote(request.params['id'], safe='')}/part/{part}"


async def show_part(context: UiContext, request: UiRequest) -> UiResponse:
    """A body as plain text, whole as it was kept."""
    return await asyncio.to_thread(_part, request, _captured(context, request))


def _part(request: UiRequest, data: bytes | None) -> UiResponse:
    capture = None if data is None else object_of(data)
    if capture is None:
        raise NotFound("This request was not captured, or is not kept any more", code="no_such_request")
    attempts = capture["attempts"]
    part = request.params["part"]
    if part == "curl":
        text = curl_command(capture)
    elif part == "request":
        text = capture["request"]["text"]
    elif part == "left":
        text = "".join(piece["text"] for piece in capture["answer"]["pieces"])
    elif part in ("sent", "came") and attempts:
        last = attempts[-1]
        text = last["request"]["text"] if part == "sent" else "".join(each["text"] for each in last["answer"]["pieces"])
    else:
        raise NotFound("There is no such part", code="no_such_path")
    return UiResponse(200, [TEXT], text.encode("utf-8", "replace"))


def curl_command(capture: JsonObject) -> str:
    """The request as a command; its key is left to the environment."""
    line, body = capture["line"], capture["request"]["text"]
    if capture["request"]["cut"] or len(body) > MAX_CURL:
        return f"# the body is too long to copy ({len(body):,} characters of it were kept)\n"
    return (
        f'curl -N "$MOONGATE_URL{line["path"]}" -H "Authorization: Bearer $MOONGATE_KEY" \\\n'
        f"  -H 'Content-Type: application/json' \\\n  --data-binary {shlex.quote(body)}\n"
    )


async def show_case(context: UiContext, request: UiRequest) -> UiResponse:
    """A file for `moongate replay`."""
    return await asyncio.to_thread(_case, context, _captured(context, request))


def _case(context: UiContext, data: bytes | None) -> UiResponse:
    capture = None if data is None else object_of(data)
    if capture is None or not any(attempt["answer"]["pieces"] for attempt in capture["attempts"]):
        raise NotFound("This request was not captured, or had no answer", code="no_such_request")
    name = b'attachment; filename="moongate.case.json"'
    headers = [(b"content-type", b"application/json"), (b"content-disposition", name)]
    return UiResponse(200, headers, dumps(test_case(context, capture)))


def test_case(context: UiContext, capture: JsonObject) -> JsonObject:
    """The last answer of a provider, with the request and the chain that it belongs to."""
    line = capture["line"]
    attempt = [each for each in capture["attempts"] if each["answer"]["pieces"]][-1]
    provider, _, model = attempt["target"].partition(",")
    client_request = _value(capture["request"])
    dialect = DIALECT_BY_PATH.get(line["path"])
    chat: JsonObject | None = client_request if isinstance(client_request, dict) else None
    if chat is not None and dialect is not None:
        try:
            chat = dialect.decode(chat)
        except GatewayError:
            chat = None
    sources = [each for each in context.sources.state().config.sources if each.name == provider]
    steps = sources[0].chains.get(model, ()) if sources else ()
    return {
        "moongate_case": 1,
        "id": line.get("id"),
        "model": model,
        "base_url": sources[0].settings.base_url if sources else "",
        "use": [[step.name, step.options] for step in steps],
        "content_type": attempt["content_type"],
        "request": chat or {"messages": []},
        "answer": "".join(piece["text"] for piece in attempt["answer"]["pieces"]),
    }
