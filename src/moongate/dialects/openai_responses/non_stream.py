"""A whole chat completion → a response object: the one that a stream would have ended with."""

from __future__ import annotations

from moongate.dialects.chat_answer import answer_id
from moongate.dialects.non_stream import CompletionBlocks
from moongate.dialects.openai_responses.calls import PREFIX, call_item, item_status
from moongate.dialects.openai_responses.output import reasoned_item, text_item, text_part
from moongate.dialects.openai_responses.reply import echo, ending, is_cut, state, usage_body
from moongate.dialects.openai_responses.stream import check_size
from moongate.dialects.openai_responses.tools import Toolbox, toolbox
from moongate.payload import JsonObject, dumps
from moongate.wire.threads import let_threads_run


def response(reply: JsonObject, client_request: JsonObject) -> JsonObject:
    """The completion as a response object. Raises BadUpstream where a stream would break."""
    whole = CompletionBlocks(reply)
    check_size(sum([len(dumps(text)) - 2 for text in whole.texts]))
    root, cut = answer_id(whole.head), is_cut(whole.finish.reason)
    status, details = ending(whole.finish)
    found = echo(whole.head, client_request)
    found.update(state(status, details=details, usage=usage_body(whole.finish.usage)))
    output: list[JsonObject] = []
    box: Toolbox | None = None
    for at, (block, text) in enumerate(zip(whole.blocks, whole.texts, strict=True)):
        let_threads_run()
        place = f"{root}_{at}"
        how = "incomplete" if cut and at >= whole.complete else "completed"
        if block.kind == "text":
            output.append(text_item(f"msg_{place}", [text_part(text)], how))
        elif block.kind == "reasoning":
            output.append(reasoned_item(f"rs_{place}", text, client_request))
        else:
            box = box or toolbox(client_request)
            called = box.called(block.name, block.custom)
            item = call_item(called, f"{PREFIX[called.kind]}_{place}", block.id or f"call_{place}", text)
            output.append({**item, "status": item_status(called, how == "incomplete")})
    found["output"] = output
    return found
