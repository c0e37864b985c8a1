"""The request as it goes to the provider (sections 1, 3, 4, 8, 9, 10).

    messages ──read──▶ Past ──claim ids──▶ names ──write──▶ messages, tools, parameters

Nothing is changed in place; what breaks no rule goes on as the very object that came.
"""

from __future__ import annotations

from typing import Any, Final

from moongate.errors import BadRequest
from moongate.kimi.family import ModelFacts
from moongate.kimi.history import HistoryWriter
from moongate.kimi.hosts import HostFacts
from moongate.kimi.ids import Ledger, plain_tool_name
from moongate.kimi.names import MOONSHOT_NAME, UNCHANGED, ToolNames
from moongate.kimi.notes import Notes
from moongate.kimi.offer import Offer
from moongate.kimi.options import KimiOptions
from moongate.kimi.parameters import is_thinking, mend_parameters, with_default_choice
from moongate.kimi.past import Past, read_past
from moongate.kimi.reasoning import ReasoningRule
from moongate.kimi.schema_cache import SchemaCache
from moongate.kimi.tools import OfferedTools, chosen_name, is_function, parameters_by_name, write_tools
from moongate.payload import JsonObject

NOTHING_OFFERED: Final = Offer({}, calls_allowed=False)


class Prepared:
    """What goes upstream, and what the answer is judged by."""

    __slots__ = ("ledger", "names", "notes", "offer", "request")

    def __init__(self, request: JsonObject, offer: Offer, ledger: Ledger, names: ToolNames, notes: Notes) -> None:
        self.request = request  # the same object if nothing changed
        self.offer = offer
        self.ledger = ledger  # the ids of the history
        self.names = names
        self.notes = notes


def prepare(
    request: Any, options: KimiOptions, model: ModelFacts, host: HostFacts, cache: SchemaCache, blank: Ledger
) -> Prepared:
    """Make the request one that Kimi and its host take. Raises BadRequest with the path of the culprit.

    `blank` is a ledger without ids, to go on from.
    """
    if not isinstance(request, dict):
        raise BadRequest("the request must be a JSON object")
    notes = Notes()
    past = read_past(request.get("messages"), options.accept_role_tool)
    tools = request.get("tools")
    tools = tools if isinstance(tools, list) else []
    ledger = blank.fork() if past.turns else blank  # nobody claims ids in it then, choices fork it again
    body = with_default_choice(request, options, notes)
    if options.parameter_rules == "auto" and host.parameters:
        body = mend_parameters(body, model, host, notes)
    offer, names = NOTHING_OFFERED, UNCHANGED
    if tools or past.turns or past.tools:
        offered = OfferedTools(tools + past.tools if past.tools else tools)
        offer = Offer(offered, bool(offered or past.turns) and body.get("tool_choice") != "none")
        if ledger.active and past.turns:
            _claim_ids(past, ledger, offered)
        if options.schema_rules == "always" or (options.schema_rules == "auto" and host.validates_schemas):
            names = _names(tools, past, body.get("tool_choice"), host)
            body = write_tools(body, names, cache, notes)
    if past.turns or past.results or past.hollow or past.developers:
        writer = HistoryWriter(
            mends_ids=ledger.active,
            mends_history=options.history_rules == "auto",
            names=names,
            id_prefix=options.id_prefix if names.renamed and ledger.names_tools else None,
            reasoning=_reasoning_rule(request, options, model, host),
            notes=notes,
        )
        messages = writer.write(request["messages"], past)
        if messages is not request["messages"]:
            body = {**body, "messages": messages}
    return Prepared(body, offer, ledger, names, notes)


def _claim_ids(past: Past, ledger: Ledger, offered: OfferedTools) -> None:
    """Settle the name and the final id of each call of the history."""
    plain = {name: plain_tool_name(name, offered) for name in set(past.names)}
    past.names = [plain[name] for name in past.names]
    if not ledger.by_message:
        past.finals = ledger.claim_all(past.given, past.names)
        return
    finals: list[str] = []
    for turn in range(len(past.turns)):
        calls = slice(past.starts[turn], past.starts[turn + 1])
        ledger.begin_message()
        finals += ledger.claim_all(past.given[calls], past.names[calls])
    past.finals = finals


def _names(tools: list[Any], past: Past, choice: Any, host: HostFacts) -> ToolNames:
    """Names for the function tools and for those that only the history or `tool_choice` speak of.

    Built-in tools and tools offered inside messages travel as they are, and so do their names.
    """
    offered = [tool["function"]["name"] for tool in tools if is_function(tool)]
    spoken = set(past.names)
    if name := chosen_name(choice):
        spoken.add(name)
    spoken.difference_update(parameters_by_name([tool for tool in tools if not is_function(tool)] + past.tools))
    return ToolNames.of(offered, host.tool_name or MOONSHOT_NAME, spoken)


def _reasoning_rule(
    request: JsonObject, options: KimiOptions, model: ModelFacts, host: HostFacts
) -> ReasoningRule | None:
    if options.reasoning_history == "off":
        return None
    return ReasoningRule(blank=host.needs_reasoning and is_thinking(request, model), both=host.reads_reasoning)
