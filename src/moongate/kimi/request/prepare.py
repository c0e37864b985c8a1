"""The request as it goes to the provider (sections 1, 3, 4, 8, 9, 10).

    messages ──read──▶ History ──claim ids──▶ names ──write──▶ messages, tools, parameters

Nothing is changed in place; what breaks no rule is sent as the very object that came.
"""

from __future__ import annotations

from collections.abc import Set
from operator import is_
from typing import Final

from moongate.chat.call_grouping import body_of
from moongate.chat.fast import remembered
from moongate.chat.message_tools import move_to_top, tools_of
from moongate.errors import BadRequest
from moongate.kimi.generations import ModelFacts
from moongate.kimi.hosts import HostFacts
from moongate.kimi.ids import CallIds
from moongate.kimi.notes import Notes
from moongate.kimi.options import KimiOptions
from moongate.kimi.request.history import History, read_history
from moongate.kimi.request.history_ids import claim_ids
from moongate.kimi.request.history_writer import HistoryWriter
from moongate.kimi.request.message_tools import without_empty_content, write_message_tools
from moongate.kimi.request.parameters import adapt_parameters, check_tool_count, is_thinking, with_default_tool_choice
from moongate.kimi.request.reasoning import ReasoningRule
from moongate.kimi.request.schema_cache import SchemaCache
from moongate.kimi.request.schema_writer import SchemaWriter
from moongate.kimi.request.tool_names import MOONSHOT_NAME, UNCHANGED, ToolNames
from moongate.kimi.request.tools import (
    OfferedTools,
    chosen_function,
    function_names,
    parameters_by_name,
    requires_call,
    write_tools,
)
from moongate.kimi.schema import Level, StepBudget
from moongate.kimi.tool_set import ToolSet
from moongate.payload import JsonObject

NO_TOOLS: Final = ToolSet({}, calls_allowed=False)


class Prepared:
    """What goes upstream, and what the answer is checked against."""

    __slots__ = ("call_ids", "names", "notes", "request", "tool_set")

    def __init__(
        self, request: JsonObject, tool_set: ToolSet, call_ids: CallIds, names: ToolNames, notes: Notes
    ) -> None:
        self.request = request  # the same object if nothing changed
        self.tool_set = tool_set
        self.call_ids = call_ids  # the ids of the history
        self.names = names
        self.notes = notes


def prepare(
    request: object,
    options: KimiOptions,
    model: ModelFacts,
    host: HostFacts,
    cache: SchemaCache,
    empty_ids: CallIds,
    *,
    quick: bool = False,
) -> Prepared:
    """Adapt the request to Kimi and its host. `empty_ids` has no ids and is shared by all requests: it is forked,
    never changed. Raises BadRequest with the path of what is wrong, and TakesLong if it must be `quick` and is not."""
    if not isinstance(request, dict):
        raise BadRequest("the request must be a JSON object")
    history = read_history(request.get("messages"), options.accept_role_tool, empty_ids.active)
    call_ids = empty_ids.fork() if history.turns else empty_ids  # without turns no ids are claimed in it
    return RequestWriter(request, history, options, model, host, call_ids).write(cache, quick=quick)


class RequestWriter:
    """Writes one request, of which the history is read."""

    __slots__ = (
        *("_body", "_history", "_host", "_call_ids", "_messages", "_model"),
        *("_notes", "_options", "_removed", "_request", "_tool_messages"),
    )

    def __init__(
        self,
        request: JsonObject,
        history: History,
        options: KimiOptions,
        model: ModelFacts,
        host: HostFacts,
        call_ids: CallIds,
    ) -> None:
        self._request, self._history, self._call_ids = request, history, call_ids
        self._options, self._model, self._host = options, model, host
        self._notes = Notes()
        self._body = request
        self._messages: list[JsonObject] = request["messages"]
        self._tool_messages = history.tool_messages  # positions of messages with tools in `_messages`
        self._removed: Set[int] = frozenset()  # positions of messages that are not sent

    def write(self, cache: SchemaCache, *, quick: bool) -> Prepared:
        history, options = self._history, self._options
        adapts = options.parameter_rules == "auto"
        declared = self._tools
        if adapts and self._host.checks_message_tools and history.tool_messages:
            self._adapt_message_tools()
        self._body = with_default_tool_choice(self._body, options)
        tools, message_tools = self._tools, tools_of(self._messages, self._tool_messages)
        required = bool(tools or message_tools) and requires_call(self._body.get("tool_choice"))
        if adapts:
            check_tool_count(len(tools) + len(message_tools), self._host)
            self._body = adapt_parameters(self._body, self._model, self._host, self._notes)
        tool_set, names, schemas = NO_TOOLS, UNCHANGED, None
        if tools or message_tools or "response_format" in self._body:
            schemas = self._schema_writer(cache, quick=quick)
        if tools or history.turns or message_tools:
            offered = OfferedTools(tools + message_tools if message_tools else tools)
            calls_allowed = bool(offered or history.sends_calls) and self._body.get("tool_choice") != "none"
            tool_set = ToolSet(offered, calls_allowed, options.id_prefix, required and bool(offered))
            if self._call_ids.active and history.turns:
                claim_ids(history, self._call_ids, declared, self._request["messages"])
            elif history.turns:
                self._call_ids.keep(history.original_ids)  # calls read from text get others (section 5.8)
            names = self._tool_names(tools, message_tools)
            self._write_tools(names, schemas)
        if schemas is not None:
            self._body = schemas.write_response_format(self._body)
            names = names.with_properties(schemas.properties)
        self._write_messages(names)
        return Prepared(self._body, tool_set, self._call_ids, names, self._notes)

    @property
    def _tools(self) -> list[object]:
        tools = self._body.get("tools")
        return tools if isinstance(tools, list) else []

    def _adapt_message_tools(self) -> None:
        """Tools inside messages as the host accepts them for this model."""
        positions = self._tool_messages
        if self._model.tools_in_messages:
            self._messages = without_empty_content(self._messages, positions, self._notes)
        elif self._body.get("tools") is None or isinstance(self._body["tools"], list):
            for at in positions:
                self._notes.add("parameter", f"messages[{at}].tools", self._messages[at]["tools"], "tools")
            moved = move_to_top(self._messages, positions, self._tools)
            self._messages, self._removed, self._tool_messages = moved.messages, moved.removed, []
            if moved.tools:
                self._body = {**self._body, "tools": moved.tools}

    def _schema_writer(self, cache: SchemaCache, *, quick: bool) -> SchemaWriter | None:
        """What brings schemas into the host's form, None if they are left alone."""
        rules = self._options.schema_rules
        level: Level = "ultra" if rules == "always" else self._host.schema_level
        if rules == "always" or (rules == "auto" and self._host.validates_schemas):
            return SchemaWriter(cache, self._notes, level, StepBudget(quick=quick))
        return None

    def _tool_names(self, tools: list[object], message_tools: list[object]) -> ToolNames:
        """Names for the function tools and for those that only the history or `tool_choice` mention.

        Built-in and custom tools are sent as they are, and so are their names. The same holds for tools inside
        messages, unless the host checks them.
        """
        rules = self._options.schema_rules
        pattern = self._host.tool_name or (MOONSHOT_NAME if rules == "always" else None)
        if pattern is None or rules == "off":
            return UNCHANGED
        top = remembered(function_names, tools)
        offered, fixed = top.functions, top.others
        if message_tools and self._host.validates_message_tools:
            inside = function_names(message_tools)
            offered, fixed = offered + inside.functions, fixed + inside.others
        elif message_tools:
            fixed = fixed + message_tools
        history = self._history
        mentioned = {
            name for name, call in zip(history.names, history.calls, strict=True) if body_of(call)[0] == "function"
        }
        mentioned.add(chosen_function(self._body.get("tool_choice")))
        mentioned.difference_update(parameters_by_name(fixed))
        mentioned.discard("")
        return ToolNames.of(offered, pattern, mentioned)

    def _write_tools(self, names: ToolNames, schemas: SchemaWriter | None) -> None:
        """Names and schemas that the host accepts (section 10)."""
        if schemas is None and not names.renamed:
            return
        self._body = write_tools(self._body, names, schemas, self._notes)
        if self._host.validates_message_tools and self._tool_messages:
            self._messages = write_message_tools(self._messages, self._tool_messages, names, schemas, self._notes)

    def _write_messages(self, names: ToolNames) -> None:
        history, came = self._history, self._request["messages"]
        messages = self._messages
        if self._removed or history.needs_writing:
            writer = HistoryWriter(
                repairs_ids=self._call_ids.active,
                repairs_history=self._options.history_rules == "auto",
                names=names,
                id_prefix=self._options.id_prefix if names.renamed and self._call_ids.ids_name_tools else None,
                reasoning=self._reasoning_rule(),
                notes=self._notes,
            )
            messages = writer.write(messages, history, self._removed)
        if messages is not came and (len(messages) != len(came) or not all(map(is_, messages, came))):
            self._body = {**self._body, "messages": messages}

    def _reasoning_rule(self) -> ReasoningRule | None:
        if self._options.reasoning_history == "off":
            return None
        host = self._host
        return ReasoningRule(
            fill_missing=host.needs_reasoning and is_thinking(self._request, self._model),
            both_names=host.reads_reasoning,
        )
