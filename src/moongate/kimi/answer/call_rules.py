"""What all calls of one choice share, native ones and those parsed from markers: names, ids, indexes (section 3)."""

from __future__ import annotations

from collections.abc import Iterator

from moongate.chat.call_grouping import ARGUMENTS, arguments_text, body_of, text_of
from moongate.kimi.answer.call import AnswerCall, EmittedCalls
from moongate.kimi.answer.context import AnswerContext
from moongate.kimi.answer.judge import JudgedCall
from moongate.kimi.ids import CallIds, bare_tool_name
from moongate.kimi.markers.piece_builder import NAMELESS
from moongate.payload import JsonObject


class CallRules:
    """The rules with their state: the ids and indexes that are taken."""

    __slots__ = (
        "_active",
        "_answer",
        "_assembles",
        "_call_ids",
        "_choice",
        "_next_index",
        "_used_indexes",
        "all",
        "emitted",
        "nameless",
        "names_are_whole",
        "present",
    )

    def __init__(self, answer: AnswerContext, choice: int) -> None:
        self.present = False  # the choice has calls
        self.all: list[AnswerCall] = []  # of a stream, in order of appearance, where calls are assembled (section 7)
        self.emitted: list[AnswerCall | EmittedCalls | JsonObject] = []  # what the client gets, in order
        self.names_are_whole = False  # nothing of a name follows: the deltas behind the next ones were seen
        self.nameless = False  # a call was dropped because it has no name
        self._answer = answer
        self._assembles = answer.options.assemble_tool_deltas
        self._active = answer.call_ids.active  # section 3 is on
        self._choice = choice
        self._call_ids: CallIds | None = None
        self._used_indexes: set[int] = set()
        self._next_index = 0

    def note(self, kind: str, call: int, member: str, before: object, after: object) -> None:
        """A note about one member of one call."""
        self._answer.notes.add_for_call(kind, self._choice, call, member, before, after)

    def drop_nameless(self, original_id: object) -> None:
        """A call that has no name is none."""
        self.nameless = True
        self._answer.note("call_dropped", f"choices[{self._choice}].message.tool_calls", original_id, NAMELESS)

    def _original_name(self, name: str) -> str:
        """The client's name of the tool that a call names (sections 3.10 and 10)."""
        answer = self._answer
        client_name = answer.names.original(name) if answer.renames else name
        if self._active and client_name.startswith("functions"):
            client_name = answer.names.original(bare_tool_name(client_name, answer.offered))
        return client_name

    def _client_name(self, name: str, at: int) -> str:
        """The same, with a note if it is another one."""
        client_name = self._original_name(name)
        if client_name != name:
            self.note("tool_name", at, ".function.name", name, client_name)
        return client_name

    def _identity(self, entry: JsonObject, original_id: str, name: str, at: int) -> tuple[str, JsonObject]:
        """The final id of a native call, and the members of its entry that change."""
        changes: JsonObject = {}
        final_id = self._claim(original_id, name)
        if final_id != text_of(entry.get("id")):
            changes["id"] = final_id
            self.note("id", at, ".id", entry.get("id"), final_id)
        if self._active and not entry.get("type"):
            changes["type"] = body_of(entry)[0]
            self.note("stream_shape", at, ".type", entry.get("type"), changes["type"])
        return final_id, changes

    def _arguments_as_text(self, kind: str, body: JsonObject, at: int) -> JsonObject:
        """The change of a call's `arguments` that are not a text; empty if there is none."""
        arguments = body.get("arguments") if kind == "function" else None
        if arguments is None or isinstance(arguments, str) or not self._active:
            return {}
        text = arguments_text(arguments)
        self.note("arguments", at, ".function.arguments", arguments, text)
        return {"arguments": text}

    def _repaired_arguments(self, arguments: object) -> object:
        """The arguments of a whole call: missing ones become `{}`, a text is repaired if the option says so."""
        if self._active and not arguments:
            return "{}"
        if self._answer.options.repair_arguments and isinstance(arguments, str):
            return self._answer.repaired_arguments(arguments)
        return arguments

    def _ids(self) -> CallIds:
        """The ids of the conversation up to here."""
        if self._call_ids is None:
            self._call_ids = self._answer.call_ids.fork()
        return self._call_ids

    def _claim(self, original_id: str, name: str) -> str:
        """The id that the client sees, for one that contains the sent name."""
        answer = self._answer
        if answer.renames:
            original_id = answer.names.original_id(original_id, answer.options.id_prefix)
        if self._active:
            return self._ids().claim(original_id, name)
        self._ids().keep((original_id,))
        return original_id

    def _is_piece(self, call: AnswerCall, entry: JsonObject) -> bool:
        """Whether the delta has nothing but a name that was not offered: more of it may come (section 3.9)."""
        kind, body = body_of(entry)
        return not call.parts and ARGUMENTS[kind] not in body and call.name not in self._answer.offered

    def _assign_index(self, call: AnswerCall, index: int | None) -> None:
        """The call keeps its own index if that is free, else it gets the next one."""
        if index is None or index in self._used_indexes:
            index = self._next_index
        call.index = index
        self._used_indexes.add(index)
        if index >= self._next_index:
            self._next_index = index + 1
        self.emitted.append(call)
        if self._assembles:
            self.all.append(call)

    def judged(self) -> Iterator[JudgedCall]:
        """The calls that the client got."""
        for each in self.emitted:
            if isinstance(each, AnswerCall):
                yield JudgedCall(each.client_name or each.name, each.arguments, each.kind == "custom")
            elif isinstance(each, EmittedCalls):
                yield from map(JudgedCall, each.names, each.arguments)
            else:
                kind, body = body_of(each)
                yield JudgedCall(text_of(body.get("name")), arguments_text(body.get(ARGUMENTS[kind])), kind == "custom")
