"""Reads requests, and selects the fault.

A fault is selected by header (`X-Fault: sse_no_done`), by path (`/sse_no_done/v1/chat/completions`) or by model
(`any-provider/sse_no_done`); the first match wins, and an unknown name is `ok`. Options follow the name:
`sse_big_line~mb=8`, `storm~n=3~code=503~key=run7`.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.support.faulty_upstream.payloads import js
from tests.support.faulty_upstream.response import FAULTS, TooMuch

MAX_REQUEST = 64 << 20
Chosen = tuple[str, dict[str, str]]
Head = tuple[str, str, str, dict[str, str]]


async def read_head(reader: asyncio.StreamReader) -> Head:
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, version = [*first.split(" "), "", ""][:3]
    pairs = (line.partition(":") for line in lines if line)
    return method, target, version, {name.strip().lower(): value.strip() for name, _, value in pairs}


async def read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        length = int(headers.get("content-length") or 0)
        if length > MAX_REQUEST:
            raise TooMuch("request body")
        return await reader.readexactly(length)
    out = b""
    while True:
        size = int((await reader.readuntil(b"\r\n")).split(b";")[0], 16)
        data = await reader.readexactly(size + 2)
        if not size:
            return out
        out += data[:-2]
        if len(out) > MAX_REQUEST:
            raise TooMuch("request body")


def object_of(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _parsed(text: str) -> Chosen:
    name, *options = text.strip().split("~")
    name = re.split(r"[/,:]", name)[-1].lower().replace("-", "_")
    return name, dict(option.split("=", 1) for option in options if "=" in option)


def first_known(texts: list[str], names: Any) -> Chosen | None:
    return next((chosen for text in texts if (chosen := _parsed(text))[0] in names), None)


def choose(headers: Mapping[str, str], path: str, model: str) -> Chosen:
    texts = [headers.get("x-fault", ""), *(part for part in path.split("/")[1:3] if part not in ("f", "v1")), model]
    return ("ok", {}) if path == "/__trap" else first_known(texts, FAULTS) or ("ok", {})


def last_user(body: dict[str, Any]) -> str:
    messages = body.get("messages")
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            content = message.get("content")
            return content if isinstance(content, str) else js(content).decode()
    return ""
