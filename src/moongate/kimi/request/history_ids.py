"""The final name and id of each call of a history (section 3)."""

from __future__ import annotations

from moongate.chat.message_tools import tools_of
from moongate.kimi.ids import CallIds, bare_tool_name
from moongate.kimi.request.history import History
from moongate.kimi.request.tools import parameters_by_name
from moongate.payload import JsonObject


def claim_ids(history: History, call_ids: CallIds, tools: list[object], messages: list[JsonObject]) -> None:
    """Settle the name and the final id of each call. `messages` are those that were read."""
    if any(name.startswith("functions") for name in history.names):
        _settle_names(history, tools, messages)
    if not call_ids.per_message and not history.dropped:
        history.final_ids = call_ids.claim_all(history.original_ids, history.names)
        return
    final_ids = list(history.original_ids)
    for turn in range(len(history.turns)):
        call_ids.begin_message()
        calls = [call for call in history.calls_of(turn) if call not in history.dropped]
        claimed = call_ids.claim_all(
            [history.original_ids[each] for each in calls], [history.names[each] for each in calls]
        )
        for call, final_id in zip(calls, claimed, strict=True):
            final_ids[call] = final_id
    history.final_ids = final_ids


def _settle_names(history: History, tools: list[object], messages: list[JsonObject]) -> None:
    """Replace names that are ids (section 3.10). A tool inside a message is offered only from its position on, so that
    old messages do not change when it is declared."""
    offered = set(parameters_by_name(tools))
    pending = list(reversed(history.tool_messages))
    for turn, position in enumerate(history.turns):
        while pending and pending[-1] < position:
            offered.update(parameters_by_name(list(tools_of(messages, [pending.pop()]))))
        for call in history.calls_of(turn):
            history.names[call] = bare_tool_name(history.names[call], offered)
