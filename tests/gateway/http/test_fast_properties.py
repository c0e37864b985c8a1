"""Bodies whose tools are known are read, translated and written exactly as by the plain path."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.schemas import real_tools

from moongate import KimiTransformer
from moongate.chat.contracts import Dialect
from moongate.chat.fast import dumps_known
from moongate.chat.items import Done
from moongate.dialects.fronts import CHAT, MESSAGES, RESPONSES
from moongate.errors import GatewayError
from moongate.gateway.http.fast import KnownToolsReader
from moongate.gateway.http.json_body import read_object
from moongate.kimi.transformer import PlainKimiTransformer
from moongate.payload import dumps

DEPTH = 24
RULES = {"preset": "agent", "schemaRules": "always"}
REAL = real_tools()[:40]
FRONTS: list[Dialect] = [CHAT, MESSAGES, RESPONSES]
MARK = 18446744073709551557

texts = st.sampled_from(["", "Hi", '"tools":[', "\\", '\\"tools":[1]', "ü\u2028", "\ud83d", str(MARK)])
scalars = st.one_of(texts, st.integers(-3, 3), st.just(MARK), st.floats(-1, 1), st.booleans(), st.none())
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["tools", "a", "type"]), inner),
    max_leaves=6,
)


def offered(front: str, at: int) -> list[Any]:
    """Real tools as this front has them: some of a few sets, so that they come again."""
    functions = [tool["function"] for tool in REAL[8 * at : 8 * at + 8]]
    if front == "messages":
        return [{"name": each["name"], "input_schema": each["parameters"]} for each in functions]
    if front == "responses":
        return [{"type": "function", **each} for each in functions]
    return [{"type": "function", "function": each} for each in functions]


HISTORY: dict[str, tuple[str, list[Any]]] = {
    "chat": (
        "messages",
        [
            {"role": "user", "content": "Hi"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "x", "type": "function", "function": {"name": "a b", "arguments": "{"}}],
            },
            {"role": "tool", "tool_call_id": "x", "content": "done"},
        ],
    ),
    "messages": (
        "messages",
        [
            {"role": "user", "content": [{"type": "text", "text": "Hi"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "done"}]},
        ],
    ),
    "responses": (
        "input",
        [
            {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
            {"type": "function_call", "call_id": "x", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "x", "output": "done"},
        ],
    ),
}


@st.composite
def bodies(draw: st.DrawFn, front: str) -> bytes:
    name, history = HISTORY[front]
    more = draw(st.lists(values, max_size=2)) if draw(st.booleans()) else []
    members: list[tuple[str, Any]] = [
        ("model", "m"),
        (name, history + more),
        ("tools", offered(front, draw(st.integers(0, 2)))),
        *draw(st.lists(st.tuples(st.sampled_from(["tools", "a", "tool_choice", "stream"]), values), max_size=2)),
    ]
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    ascii_only = draw(st.booleans())

    def written(value: Any) -> str:
        return json.dumps(value, separators=separators, ensure_ascii=ascii_only)

    pairs = (f"{written(key)}{separators[1]}{written(value)}" for key, value in draw(st.permutations(members)))
    data = ("{" + separators[0].join(pairs) + "}").encode("utf-8", "replace")
    if draw(st.integers(0, 5)) == 0:  # cut, or with a byte too many
        at = draw(st.integers(0, len(data)))
        data = data[:at] + draw(st.sampled_from([b"", b'"', b"]", b"\\", b","])) + data[at + draw(st.integers(0, 2)) :]
    return data


def outcome(read: Any, front: Dialect, kimi: KimiTransformer, data: bytes) -> object:
    """All that leaves for this body: what is sent and noted, or the error."""
    try:
        request = read(data)
        chat = front.decode(request)
        left_out = front.left_out(request)
        exchange = kimi.begin(chat)
        sent, answer = dumps_known(exchange.request), front.encoder(request).feed(Done())
        return dumps(request), dumps(chat), sent, answer, list(exchange.notes), left_out
    except GatewayError as error:
        return str(error), error.code, error.path
    except (AttributeError, KeyError, TypeError) as error:  # of the plain path, too: no part of what is compared
        return repr(error)


@given(st.data())
def test_the_fast_path_is_the_plain_path(data: st.DataObject) -> None:
    front = data.draw(st.sampled_from(FRONTS))
    fast, plain = (each.from_config(RULES, model="m") for each in (KimiTransformer, PlainKimiTransformer))
    reader = KnownToolsReader(DEPTH)
    for body in data.draw(st.lists(bodies(front.name), min_size=3, max_size=8)):
        expected = outcome(lambda body: read_object(body, DEPTH), front, plain, body)
        assert outcome(reader.read_object, front, fast, body) == expected
        assert outcome(reader.read_object, front, fast, body) == expected
