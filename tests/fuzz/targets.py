"""What is fuzzed. A target takes any bytes, raises nothing, and judges what was made of them.

Errors of our own are allowed where the input may be at fault; any other exception is a finding.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.fuzz import samples
from tests.fuzz.draw import Draw
from tests.kimi.marker_reading import Heard, cut_in, read

from moongate.chat.accumulate import Accumulator
from moongate.chat.contracts import Dialect
from moongate.dialects import CHAT, DIALECTS, MESSAGES, RESPONSES
from moongate.errors import BadRequest, ConfigError, GatewayError
from moongate.gateway.config.load import parse_config
from moongate.gateway.reading import read_object
from moongate.kimi.ids import Ledger
from moongate.kimi.k2 import K2Parser
from moongate.kimi.k3 import K3Parser
from moongate.kimi.offer import Offer, ToolKeys
from moongate.kimi.options import KimiOptions, ToolTokens
from moongate.kimi.pieces import Channel, Parser
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import dumps
from moongate.pipeline.reply import read_reply
from moongate.pipeline.session import Session
from moongate.wire.frames import Frame
from moongate.wire.ndjson import NdjsonDecoder
from moongate.wire.sse import SseDecoder

Target = Callable[[bytes], None]

DELTAS = (1, 5, 1 << 20)  # characters
LIMIT = 300
WORDS = samples.words_of(samples.CHAT, samples.CHUNK, samples.REPLY)
OFFER = Offer({"bash": ToolKeys(frozenset({"command"}), frozenset({"command"})), "read_file": ToolKeys()})
TOKENS = ToolTokens()
K2_SCRAPS = (
    *("a", " ", "\n", "<", "<|", "|>", "{", "}", '"command"', ":", '"ls"', ",", "[", "]", "1", "\\", "é", "😀"),
    *(TOKENS.section_begin, TOKENS.section_end, TOKENS.call_begin, TOKENS.call_end, TOKENS.arg_begin),
    *("<|tool_call_section_begin|>", "<think>", "</think>", "<|im_end|>", "functions.bash:0", "functions.", "bash"),
    *('{"command": "ls"}', "<|tool_", "</th", "call_1", "read_file:3"),
)
K3_SCRAPS = (
    *("a", " ", "\n", "<", "<|", "|>", "{", "}", '"', "=", "é", "😀", "1", "bash", "<|open|>", "<|close|>", "<|sep|>"),
    *("<|open|>think<|sep|>", "<|close|>think<|sep|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    *("<|open|>tools<|sep|>", "<|close|>tools<|sep|>", '<|open|>call tool="bash" index="1"<|sep|>', "call", "argument"),
    *("<|close|>call<|sep|>", '<|open|>argument key="command" type="string"<|sep|>', "<|close|>argument<|sep|>"),
    *('<|open|>argument key="n" type="number"<|sep|>', "<|end_of_msg|>", "<|im_end|>", " key=", ' type="object"'),
)


def sse(data: bytes) -> None:
    """Frames do not depend on the cuts, nor bytes on the frames."""
    for make in (SseDecoder, NdjsonDecoder):
        ways = [[data[at : at + size] for at in range(0, len(data), size)] for size in (1, 3, 99)]
        found = [_frames(make(LIMIT), pieces) for pieces in ways]
        assert found[0] == found[1] == found[2], found
    frames = SseDecoder().feed(data)
    assert b"".join(frame.raw for frame in frames) in data


def _frames(decoder: SseDecoder | NdjsonDecoder, pieces: Sequence[bytes]) -> tuple[list[Any], bytes, bool]:
    frames: list[Frame] = []
    for piece in pieces:
        frames += decoder.feed(piece)
    if not decoder.overflow:
        frames += decoder.close()
    raw = b"".join(frame.raw for frame in frames)
    return [(frame.data, frame.event) for frame in frames if frame.data is not None], raw, decoder.overflow


def k2(data: bytes) -> None:
    draw = Draw(data)
    mend, allowed = draw.byte() & 1 > 0, draw.byte() & 7 > 0
    _grammar(draw, K2_SCRAPS, lambda: K2Parser(TOKENS, Offer(OFFER.tools, allowed), mend))


def k3(data: bytes) -> None:
    draw = Draw(data)
    mend, allowed = draw.byte() & 1 > 0, draw.byte() & 7 > 0
    _grammar(draw, K3_SCRAPS, lambda: K3Parser(Offer(OFFER.tools, allowed), mend))


def _grammar(draw: Draw, scraps: Sequence[str], make: Callable[[], Parser]) -> None:
    """What is heard does not depend on the size of the deltas."""
    cut = draw.byte()
    text = draw.text(scraps)
    said: list[tuple[Channel, str]] = [("reasoning", text[:cut]), ("content", text[cut:])]
    if cut > 200:
        said = [("content", text)]
    heard: list[Heard] = []
    for size in DELTAS:
        heard.append(read(make(), [(channel, part) for channel, whole in said for part in cut_in(whole, size)]))
    for other in heard[1:]:
        assert (other.content, other.reasoning, other.calls) == (heard[0].content, heard[0].reasoning, heard[0].calls)


def accumulator(data: bytes) -> None:
    """Chunks of any shape make one completion, in the accumulator and through the whole pipeline."""
    draw = Draw(data)
    family = draw.pick(("k2", "k3"))
    front = draw.pick(list(DIALECTS.values()))
    options = {"family": family, "manualToolParsing": draw.byte() & 1 > 0, "assembleToolDeltas": draw.byte() & 1 > 0}
    transformer = KimiTransformer.from_config(options, model="kimi")
    chunks = [draw.changed(samples.CHUNK, WORDS) for _ in range(1 + draw.byte() % 4)]
    whole = Accumulator()
    for chunk in chunks:
        if isinstance(chunk, dict):
            whole.feed(chunk)
    json.dumps(whole.completion())
    stream = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in [*chunks, "[DONE]"])
    for body, kind in ((stream, "text/event-stream"), (json.dumps(draw.changed(samples.REPLY, WORDS)).encode(), "")):
        session = Session(transformer.begin(samples.CHAT), kind, front.encoder(_asked(front)))
        told = b"".join([*(session.feed(body[at : at + 700]) for at in range(0, len(body), 700)), session.close()])
        assert session.finished
        assert told
        with suppress(GatewayError):
            dumps(front.encode(read_reply(transformer.begin(samples.CHAT), body, kind), _asked(front)))


def ids(data: bytes) -> None:
    """Ids that are claimed are unique, and in form where the family wants one; so are those of a history."""
    draw = Draw(data)
    family = draw.pick(("k2", "k3"))
    options = KimiOptions.from_config({"family": family, "idNormalization": draw.byte() & 3 == 3})
    ledger = Ledger(options, family)  # type: ignore[arg-type]
    names = ("bash", "read_file", "a.b:c", "")
    given = ("", "call_1", "functions.bash:0", "functions.bash:1", "bash_0", "bash_1", "functions.a.b:c:2", "7")
    claimed = []
    for _ in range(draw.byte() % 24):
        name = draw.pick(names)
        claimed.append(ledger.claim(draw.pick(given), name))
        assert family == "k3" or claimed[-1].startswith(f"functions.{name}:")
    assert len(set(claimed)) == len(claimed)
    history = draw.changed(samples.CHAT["messages"], WORDS)
    with suppress(BadRequest):
        begun = KimiTransformer.from_config({"family": family}, model="kimi").begin({"messages": history})
        json.dumps(begun.request)


def _front(front: Dialect, sample: samples.Row) -> Target:
    words = samples.words_of(sample)

    def target(data: bytes) -> None:
        """A request of any shape is understood or refused, never more than that."""
        draw = Draw(data)
        body = draw.changed(sample, words)
        with suppress(BadRequest):
            asked = read_object(json.dumps(body).encode(), 128)
            chat = front.decode(asked)
            front.left_out(asked)
            front.encoder(asked).close()
            dumps(front.encode(samples.REPLY, asked))
            dumps(KimiTransformer.from_config({"preset": "agent"}, model="kimi-k2").begin(chat).request)
        with suppress(BadRequest):
            front.decode(read_object(draw.rest(), 128))

    return target


def _asked(front: Dialect) -> samples.Row:
    return {"chat": samples.CHAT, "messages": samples.MESSAGES, "responses": samples.RESPONSES}[front.name]


CONFIG_WORDS = [word for word in samples.words_of(samples.CONFIG) if word] + ["none", "$NO", "file:/nowhere", "Kimi"]


def config(data: bytes) -> None:
    """A configuration is good, or an error of ours."""
    draw = Draw(data)
    text = json.dumps(draw.changed(samples.CONFIG, CONFIG_WORDS), indent=1)
    rest = draw.rest()
    if rest:
        at = rest[0] * len(text) // 256
        text = text[:at] + rest[1:].decode("utf-8", "replace") + text[at + rest[0] % 5 :]
    if '"transformers"' in text:
        return  # those load code
    with suppress(ConfigError):
        parse_config(text, "config.json", Path("/nowhere"), {"KEY": "provider-key"})


TARGETS: Mapping[str, Target] = {
    "sse": sse,
    "k2": k2,
    "k3": k3,
    "accumulator": accumulator,
    "ids": ids,
    "chat": _front(CHAT, samples.CHAT),
    "messages": _front(MESSAGES, samples.MESSAGES),
    "responses": _front(RESPONSES, samples.RESPONSES),
    "config": config,
}


def everything(data: bytes) -> None:
    """The first byte chooses the target."""
    TARGETS[list(TARGETS)[data[0] % len(TARGETS)] if data else "sse"](data[1:])
