"""The fuzz targets. A target takes any bytes, runs the code, and checks its output.

Our own errors are allowed where the input may be at fault; any other exception is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import orjson
from tests.fuzz import samples
from tests.fuzz.draw import Draw, table_of
from tests.fuzz.error_page import error_page
from tests.fuzz.guide import Target
from tests.fuzz.schemas import schema_normaliser
from tests.kimi.marker_reading import ParsedChoice

from moongate.chat.accumulate import Accumulator
from moongate.chat.contracts import Dialect
from moongate.dialects.fronts import CHAT, DIALECTS, MESSAGES, RESPONSES
from moongate.errors import BadRequest, ConfigError, GatewayError
from moongate.gateway.config.load import parse_config
from moongate.gateway.http.json_body import read_object
from moongate.kimi.family import Family
from moongate.kimi.ids import CallIds
from moongate.kimi.markers.k2 import K2, K2Parser
from moongate.kimi.markers.k3 import K3, K3Parser
from moongate.kimi.markers.pieces import Channel, Parser, Piece
from moongate.kimi.options import KimiOptions
from moongate.kimi.tool_set import ToolKeys, ToolSet
from moongate.kimi.tool_tokens import ToolTokens
from moongate.kimi.transformer import KimiTransformer
from moongate.payload import dumps
from moongate.pipeline.non_stream import read_reply
from moongate.pipeline.session import Session
from moongate.wire.frames import Frame
from moongate.wire.ndjson import NdjsonDecoder
from moongate.wire.sse import SseDecoder

FIELDS: Sequence[Channel] = ("reasoning", "content")
DELTAS = (1, 5, 1 << 20)  # characters
LIMIT = 40
WORDS = samples.words_of(samples.CHAT, samples.CHUNK, samples.REPLY)
TOOLS = {"bash": ToolKeys(frozenset({"command"}), frozenset({"command"})), "read_file": ToolKeys()}
TOOL_SETS = ToolSet(TOOLS, False), ToolSet(TOOLS, True)
TOKENS = ToolTokens()
K2_TOKENS = table_of(
    *("a", " ", "\n", "<", "<|", "|>", "{", "}", '"command"', ":", '"ls"', ",", "[", "]", "1", "\\", "é", "😀"),
    *(TOKENS.section_begin, TOKENS.section_end, TOKENS.call_begin, TOKENS.call_end, TOKENS.arg_begin),
    *("<|tool_call_section_begin|>", "<think>", "</think>", "<|im_end|>", "functions.bash:0", "functions.", "bash"),
    *('{"command": "ls"}', "<|tool_", "</th", "call_1", "read_file:3"),
)
K3_TOKENS = table_of(
    *("a", " ", "\n", "<", "<|", "|>", "{", "}", '"', "=", "é", "😀", "1", "bash", "<|open|>", "<|close|>", "<|sep|>"),
    *("<|open|>think<|sep|>", "<|close|>think<|sep|>", "<|open|>response<|sep|>", "<|close|>response<|sep|>"),
    *("<|open|>tools<|sep|>", "<|close|>tools<|sep|>", '<|open|>call tool="bash" index="1"<|sep|>', "call", "argument"),
    *("<|close|>call<|sep|>", '<|open|>argument key="command" type="string"<|sep|>', "<|close|>argument<|sep|>"),
    *('<|open|>argument key="n" type="number"<|sep|>', "<|end_of_msg|>", "<|im_end|>", " key=", ' type="object"'),
)


def sse(data: bytes) -> None:
    """The frames do not depend on how the bytes are split, and their bytes are those of the input."""
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
    repair, tool_set = draw.byte() & 1 > 0, TOOL_SETS[draw.byte() & 7 > 0]
    grammar(draw, K2_TOKENS, lambda: K2Parser(TOKENS, tool_set, repair))


def k3(data: bytes) -> None:
    draw = Draw(data)
    repair, tool_set = draw.byte() & 1 > 0, TOOL_SETS[draw.byte() & 7 > 0]
    grammar(draw, K3_TOKENS, lambda: K3Parser(tool_set, repair))


def grammar(draw: Draw, tokens: Sequence[str], make: Callable[[], Parser]) -> None:
    """The parsed answer does not depend on the size of the deltas."""
    seams = [draw.byte() for _ in range(draw.byte() % 5)]
    first_field = draw.byte() & 1
    text = draw.text(tokens)
    texts: list[tuple[Channel, str]] = []
    for number, (begin, end) in enumerate(pairwise([0, *sorted(seams), len(text)])):
        texts.append((FIELDS[(number + first_field) % 2], text[begin:end]))
    first, *others = (_parsed(make(), texts, size) for size in DELTAS)
    for other in others:
        assert (other.content, other.reasoning, other.calls) == (first.content, first.reasoning, first.calls)


def _parsed(parser: Parser, texts: Sequence[tuple[Channel, str]], size: int) -> ParsedChoice:
    pieces: list[Piece] = []
    for channel, text in texts:
        for at in range(0, len(text), size):
            pieces += parser.feed(channel, text[at : at + size])
    return ParsedChoice().take([*pieces, *parser.close()])


FRONTS = tuple(DIALECTS.values())
TRANSFORMERS = [
    KimiTransformer.from_config(
        {"family": family, "manualToolParsing": manual, "assembleToolDeltas": assemble}, model="kimi"
    )
    for family, manual, assemble in product(("k2", "k3"), (False, True), (False, True))
]


def accumulator(data: bytes) -> None:
    """Chunks of any shape make one completion, in the accumulator and through the whole pipeline."""
    draw = Draw(data)
    transformer = draw.pick(TRANSFORMERS)
    front = draw.pick(FRONTS)
    chunks = [draw.changed(samples.CHUNK, WORDS) for _ in range(1 + draw.byte() % 4)]
    whole = Accumulator()
    for chunk in chunks:
        if isinstance(chunk, dict):
            whole.feed(chunk)
    dumps(whole.completion())
    stream = b"".join(b"data: " + dumps(chunk) + b"\n\n" for chunk in [*chunks, "[DONE]"])
    for body, kind in ((stream, "text/event-stream"), (dumps(draw.changed(samples.REPLY, WORDS)), "")):
        session = Session(transformer.begin(samples.REQUEST), kind, front.encoder(_request_of(front)))
        reported = b"".join([*(session.feed(body[at : at + 700]) for at in range(0, len(body), 700)), session.close()])
        assert session.finished
        assert reported
        with suppress(GatewayError):
            dumps(front.encode(read_reply(transformer.begin(samples.REQUEST), body, kind), _request_of(front)))


FAMILIES: Sequence[Family] = (K2, K3)
ID_OPTIONS = {
    (family, normal): KimiOptions.from_config({"family": family.name, "idNormalization": normal})
    for family, normal in product(FAMILIES, (False, True))
}
BY_FAMILY = {family: KimiTransformer.from_config({"family": family.name}, model="kimi") for family in FAMILIES}


def ids(data: bytes) -> None:
    """Claimed ids are unique and, if the family requires a form, well-formed; so are the ids of a history."""
    draw = Draw(data)
    family = draw.pick(FAMILIES)
    call_ids = CallIds(ID_OPTIONS[family, draw.byte() & 3 == 3], family.id_rule)
    names = ("bash", "read_file", "a.b:c", "")
    given = ("", "call_1", "functions.bash:0", "functions.bash:1", "bash_0", "bash_1", "functions.a.b:c:2", "7")
    claimed = []
    for _ in range(draw.byte() % 24):
        name = draw.pick(names)
        claimed.append(call_ids.claim(draw.pick(given), name))
        assert family is K3 or claimed[-1].startswith(f"functions.{name}:")
    assert len(set(claimed)) == len(claimed)
    history = draw.changed(samples.CHAT["messages"], WORDS)
    with suppress(BadRequest):
        dumps(BY_FAMILY[family].begin({"messages": history}).request)


def front_target(dialect: Dialect, sample: samples.Row) -> Target:
    words = samples.words_of(sample)
    transformer = KimiTransformer.from_config({"preset": "agent"}, model="kimi-k2")

    def target(data: bytes) -> None:
        """A request of any shape is decoded or rejected, and nothing else is raised."""
        draw = Draw(data)
        body = draw.changed(sample, words)
        with suppress(BadRequest):
            request = read_object(dumps(body), 128)
            chat = dialect.decode(request)
            dialect.left_out(request)
            dialect.encoder(request).close()
            dumps(dialect.encode(samples.REPLY, request))
            dumps(transformer.begin(chat).request)
        with suppress(BadRequest):
            dialect.decode(read_object(draw.rest(), 128))

    return target


def _request_of(front: Dialect) -> samples.Row:
    return {"chat": samples.CHAT, "messages": samples.MESSAGES, "responses": samples.RESPONSES}[front.name]


CONFIG_WORDS = [word for word in samples.words_of(samples.CONFIG) if word] + ["none", "$NO", "file:/nowhere", "Kimi"]


def config(data: bytes) -> None:
    """A configuration is valid or raises ConfigError."""
    draw = Draw(data)
    text = _lines(draw.changed(samples.CONFIG, CONFIG_WORDS))
    rest = draw.rest()
    if rest:
        at = rest[0] * len(text) // 256
        text = text[:at] + rest[1:].decode("utf-8", "replace") + text[at + rest[0] % 5 :]
    if '"transformers"' in text:
        return  # those load code
    with suppress(ConfigError):
        parse_config(text, "config.json", Path("/nowhere"), {"KEY": "provider-key"})


def _lines(value: Any) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # half of a surrogate pair, or a huge number
        return dumps(value).decode()


TARGETS: Mapping[str, Target] = {
    "error_page": error_page,
    "sse": sse,
    "k2": k2,
    "k3": k3,
    "accumulator": accumulator,
    "ids": ids,
    "chat": front_target(CHAT, samples.CHAT),
    "messages": front_target(MESSAGES, samples.MESSAGES),
    "responses": front_target(RESPONSES, samples.RESPONSES),
    "config": config,
    "schemas": schema_normaliser,
}
