"""A provider that quotes our key in unusual spellings: neither the client nor the log sees it."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

from tests.cli.served import ASK, CLIENT, PATH, UPSTREAM, config, serving, write
from tests.gateway.scripted import Asked, Scripted, chunk
from tests.support.http import post

from moongate.gateway.http.spelling import fold

SPELLINGS = {
    "upper": UPSTREAM.upper(),
    "escapes": "".join(f"\\u{ord(each):04x}" for each in UPSTREAM),
    "markup": f"{UPSTREAM[:7]}<b>{UPSTREAM[7:]}</b>",
    "url": "".join(f"%{ord(each):02x}" for each in UPSTREAM),
    "blanks": " ".join(UPSTREAM),
}
PLACES = ("message", "code", "page", "cut", "stream", "late", "whole")


async def quote_key(asked: Asked) -> None:
    """The client's `user` names the spelling and the place."""
    spelling, place = asked.json["user"].split(" ")
    text = SPELLINGS[spelling]
    error: dict[str, Any] = {"error": {"message": f"no such key: {text}", "code": "wrong"}}
    if place == "page":
        asked.document(f"<html><h1>Wrong key</h1>{text}</html>".encode(), 401)
    elif place == "cut":  # in the middle of where a message is cut
        asked.document({"error": {"message": "words " * 332 + text + " words" * 100}}, 401)
    elif place == "code":
        asked.document({"error": {"message": "no such key", "code": text}}, 401)
    elif place == "whole":
        asked.document(error)
    elif place in ("stream", "late"):
        asked.begin_stream()
        asked.send((chunk("Hello") if place == "late" else b"") + b"data: " + json.dumps(error).encode() + b"\n\n")
        asked.end_stream()
    else:
        asked.document(error, 401)


def test_a_key_that_a_provider_quotes_in_another_spelling_is_masked(tmp_path: Path, upstream: Scripted) -> None:
    upstream.play = quote_key
    write(tmp_path, config(upstream, retries={"retries": 0, "failures": 1000}))
    secret = fold(UPSTREAM)
    with serving(tmp_path, "--log-bodies") as served:
        root = served.root()
        for spelling, place in product(SPELLINGS, PLACES):
            asked = ASK | {"user": f"{spelling} {place}", "stream": place in ("stream", "late")}
            answer = post(root + PATH, asked, key=CLIENT).body.decode()
            assert secret[:12] not in fold(answer), (spelling, place, answer)
            assert "error" in answer
            for line in answer.split("\n"):
                if line.startswith("data: {"):
                    json.loads(line.removeprefix("data: "))
        assert served.stop() == 0
    assert len(served.lines) == len(SPELLINGS) * len(PLACES)
    assert secret[:12] not in fold(served.out + served.err)
