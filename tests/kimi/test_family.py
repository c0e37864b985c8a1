"""Adding a family or a host takes one file or one row: made-up ones go through the same records as the real ones."""

from __future__ import annotations

import re

import pytest
from tests.kimi.answering import DONE, REQUEST, answer, call, choices_of, chunk, entries_of, fed

from moongate import BadRequest, KimiOptions, KimiTransformer
from moongate.kimi.family import Family, IdRule
from moongate.kimi.generations import FAMILY_NAMES, GENERATIONS, Generation, ModelFacts, recognise_model
from moongate.kimi.hosts import HOST_NAMES, HOSTS, HostFacts, ParameterFacts, recognise_host
from moongate.kimi.markers.pieces import Channel, Piece, Text, WholeCall, WholeCalls
from moongate.kimi.tool_set import ToolSet
from moongate.kimi.tool_tokens import ToolTokens

CALL = re.compile(r"\[\[([a-z]+) (\{.*?\})\]\]")


class BracketParser:
    """A whole grammar: `[[NAME {ARGUMENTS}]]` in one delta."""

    idle = False

    def __init__(self, _: ToolTokens, tool_set: ToolSet, repair_arguments: bool) -> None:
        self._tool_set = tool_set

    def feed(self, channel: Channel, text: str) -> list[Piece]:
        calls: list[WholeCall] = [("", name, arguments) for name, arguments in CALL.findall(text)]
        rest = CALL.sub("", text)
        found: list[Piece] = [Text(channel, rest)] if rest else []
        return [*found, WholeCalls(calls)] if calls and self._tool_set.calls_allowed else found

    def release(self) -> list[Piece]:
        return []

    def close(self) -> list[Piece]:
        return []

    def passed(self, channel: Channel, last: str) -> None:
        pass

    def idle_for(self, channel: Channel) -> bool:
        return False


BRACKETS = Family("k9", BracketParser, lambda _: ("[[",), IdRule.UNIQUE, grammar="brackets")
ROWS = (Generation(ModelFacts(BRACKETS, "k9", "never", "K9"), re.compile("k9"), ("kimi-k9",)), *GENERATIONS)

STRICT = HostFacts(
    "strict",
    domains=("api.strict.example",),
    parameters={"k9": ParameterFacts(fixed_sampling=True)},
    max_tools=2,
)
STRICT_HOSTS = (STRICT, *HOSTS)


def made_up(options: KimiOptions, base_url: str = "") -> KimiTransformer:
    model = recognise_model("acme/Kimi-K9", options.family, ROWS)
    return KimiTransformer(options, model, recognise_host(base_url, options.host, STRICT_HOSTS))


def test_calls_of_a_made_up_grammar_are_parsed_whole_and_streamed() -> None:
    transformer = made_up(KimiOptions(manual_tool_parsing=True))
    text = 'Sure. [[bash {"command": "ls"}]]'
    message = transformer.begin_unguarded(REQUEST).reply(answer({"content": text}))["choices"][0]["message"]
    assert message["content"] == "Sure. "
    assert message["tool_calls"] == [call("bash_0", "bash", '{"command": "ls"}')]
    items = fed(transformer.begin_unguarded(REQUEST), chunk({"content": text}), chunk({}, "stop"), DONE)
    assert [entry["function"].get("name") for entry in entries_of(items)] == ["bash", None]
    assert choices_of(items)[-1]["finish_reason"] == "tool_calls"


def test_markers_of_a_made_up_grammar_are_noted_where_they_are_not_parsed() -> None:
    exchange = made_up(KimiOptions()).begin_unguarded(REQUEST)
    fed(exchange, chunk({"content": "[["}))
    assert [(note.kind, note.before) for note in exchange.notes] == [("markers_seen", "[[")]


@pytest.mark.parametrize(("rule", "final"), [(IdRule.UNIQUE, "x"), (IdRule.TOOL_NAME, "functions.bash:0")])
def test_a_made_up_family_chooses_its_id_rule(rule: IdRule, final: str) -> None:
    family = Family("k9", BracketParser, BRACKETS.markers, rule, grammar="brackets")
    transformer = KimiTransformer(model=ModelFacts(family, "k9", "never", "K9"))
    reply = transformer.begin_unguarded(REQUEST).reply(answer({"tool_calls": [call("x")]}, "tool_calls"))
    assert reply["choices"][0]["message"]["tool_calls"][0]["id"] == final


def test_the_option_selects_a_made_up_family() -> None:
    assert recognise_model("my-alias", "k9", ROWS).family is BRACKETS
    assert recognise_model("kimi-k2.6", "auto", ROWS).generation == "k2.6"


def test_a_made_up_host_is_recognised_and_its_rules_are_followed() -> None:
    transformer = made_up(KimiOptions(), "https://api.strict.example/v1")
    assert transformer.host is not None
    assert transformer.host.name == "strict"
    assert "temperature" not in transformer.begin_unguarded({**REQUEST, "temperature": 1}).request
    with pytest.raises(BadRequest, match="at most 2"):
        transformer.begin_unguarded({**REQUEST, "tools": REQUEST["tools"] * 2})


def test_the_allowed_options_come_from_the_rows() -> None:
    assert KimiOptions.__dataclass_fields__["family"].metadata["words"] == ("auto", *FAMILY_NAMES)
    assert KimiOptions.__dataclass_fields__["host"].metadata["words"] == ("auto", *HOST_NAMES)
