"""A whole chat completion → a response object: the one that a stream would have ended with."""

from __future__ import annotations

from moongate.dialects.answer import answer_id
from moongate.dialects.responses.calls import PREFIX, call_item
from moongate.dialects.responses.output import reasoned_item, text_item, text_part
from moongate.dialects.responses.reply import echo, ending, is_cut, state, usage_body
from moongate.dialects.responses.stream import check_size
from moongate.dialects.responses.tools import Toolbox, toolbox
from moongate.dialects.whole import Whole
from moongate.payload import JsonObject, dumps


def response(reply: JsonObject, asked: JsonObject) -> JsonObject:
    """The response that says what the completion says. Raises BadUpstream where a stream would break."""
    whole = Whole(reply)
    check_size(sum([len(dumps(block.pieces[0])) - 2 for block in whole.blocks]))
    root, cut = answer_id(whole.head), is_cut(whole.finish.reason)
    status, details = ending(whole.finish)
    found = echo(whole.head, asked)
    found.update(state(status, details=details, usage=usage_body(whole.finish.usage)))
    output: list[JsonObject] = []
    box: Toolbox | None = None
    for at, block in enumerate(whole.blocks):
        text, place = block.pieces[0], f"{root}_{at}"
        how = "incomplete" if cut and at >= whole.over else "completed"
        if block.kind == "text":
            output.append(text_item(f"msg_{place}", [text_part(text)], how))
        elif block.kind == "reasoning":
            output.append(reasoned_item(f"rs_{place}", text, asked))
        else:
            box = box or toolbox(asked)
            called = box.called(block.name)
            item = call_item(called, f"{PREFIX[called.kind]}_{place}", block.id or f"call_{place}", text)
            output.append({**item, "status": how})
    found["output"] = output
    return found
