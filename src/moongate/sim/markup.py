"""Calls as the models write them: K2 markers and K3's XTML, also in the damaged forms that real hosts have sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from moongate.payload import dumps_text, object_of
from moongate.sim.conversation import SimCall

SECTION_BEGIN: Final = "<|tool_calls_section_begin|>"
SECTION_END: Final = "<|tool_calls_section_end|>"
CALL_BEGIN: Final = "<|tool_call_begin|>"
CALL_END: Final = "<|tool_call_end|>"
ARGUMENTS: Final = "<|tool_call_argument_begin|>"

Header = Callable[[SimCall], str]
HEADERS: Final[dict[str, Header]] = {
    "": lambda call: f"functions.{call.name}:{call.number}",
    "short": lambda call: f"{call.name}:{call.number}",
    "safe": lambda call: f"functions_{call.name}_{call.number}",
    "number": lambda call: str(call.number),
}


def k2_markup(calls: Sequence[SimCall], grammar: str = "") -> str:
    """The section of markers for these calls, damaged as `grammar` says."""
    begin, end = SECTION_BEGIN, SECTION_END
    if grammar == "singular":
        begin, end = (marker.replace("tool_calls_", "tool_call_") for marker in (begin, end))
    blocks = [_k2_call(call, grammar) for call in calls]
    if grammar == "two":
        return "".join(begin + block + end for block in blocks)
    if grammar == "bare":
        return "".join(blocks)
    if grammar == "unclosed":
        return begin + "".join(blocks).removesuffix(CALL_END)
    if grammar == "spaced":
        return f"{begin}\n" + "\n".join(blocks) + f"\n{end}"
    return begin + "".join(blocks) + end


def _k2_call(call: SimCall, grammar: str) -> str:
    header = HEADERS.get(grammar, HEADERS[""])(call)
    end = "" if grammar == "open" else CALL_END
    if grammar == "spaced":
        return f"{CALL_BEGIN} {header}\n {ARGUMENTS} \n{call.arguments} {end}"
    return f"{CALL_BEGIN}{header}{ARGUMENTS}{call.arguments}{end}"


def k3_markup(reasoning: str, text: str, calls: Sequence[SimCall], grammar: str = "") -> str:
    """A whole assistant message in XTML."""
    think = _element("think", reasoning) if reasoning else ""
    if grammar == "nosep":
        think = think.removesuffix("<|sep|>")
    response = _element("response", text) if text else ""
    if not calls:
        return think + response
    tools = _element("tools", "".join(_k3_call(call, grammar) for call in calls))
    if grammar == "unclosed":
        tools = tools.removesuffix("<|sep|>")
    if grammar == "joined":
        tools = tools.replace("<|sep|><|open|>", "", 1).removesuffix("<|sep|>") + "message<|sep|>"
    if grammar == "around":
        return f"<|open|>think<|sep|>{reasoning}{tools}<|close|>think<|sep|>{response}"
    return think + response + tools


def seam(markup: str, calls: Sequence[SimCall], where: str) -> int:
    """Where markup is cut between two fields: in the first header, in the first arguments, before the last end."""
    if where == "end":
        return max(markup.rfind(SECTION_END), markup.rfind("<|close|>tools"))
    header = markup.index(calls[0].name) + len(calls[0].name) // 2
    if where == "header":
        return header
    begins = ARGUMENTS if ARGUMENTS in markup else "<|sep|>"
    first = markup.find(begins, max(0, markup.find("<|open|>argument")))
    if begins != ARGUMENTS and "<|open|>argument" not in markup:
        return header  # a call without arguments
    return (first + len(begins) + markup.find("<|", first + len(begins))) // 2


def _k3_call(call: SimCall, grammar: str) -> str:
    arguments = object_of(call.arguments)
    if grammar == "json" or arguments is None:
        body = _element("json", call.arguments, 'type="object"')
    else:
        body = "".join(_argument(key, value) for key, value in arguments.items())
    return _element("call", body, f'tool="{_escaped(call.name)}" index="{call.position + 1}"')


def _argument(key: str, value: object) -> str:
    kinds: tuple[tuple[type, str], ...] = (
        (str, "string"), (bool, "boolean"), (int, "number"), (float, "number"), (dict, "object"), (list, "array")
    )  # fmt: skip
    kind = next((name for known, name in kinds if isinstance(value, known)), "null")
    body = value if isinstance(value, str) else dumps_text(value)
    return _element("argument", body, f'key="{_escaped(key)}" type="{kind}"')


def _element(name: str, body: str, attributes: str = "") -> str:
    head = f"{name} {attributes}" if attributes else name
    return f"<|open|>{head}<|sep|>{body}<|close|>{name}<|sep|>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")
