"""Calls as the models write them: K2 markers and K3's XTML, also in the damaged forms that were seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from moongate.payload import JsonObject, dumps_text, loads
from moongate.sim.script import Call

SECTION_BEGIN: Final = "<|tool_calls_section_begin|>"
SECTION_END: Final = "<|tool_calls_section_end|>"
CALL_BEGIN: Final = "<|tool_call_begin|>"
CALL_END: Final = "<|tool_call_end|>"
ARGUMENTS: Final = "<|tool_call_argument_begin|>"

Header = Callable[[Call], str]
HEADERS: Final[dict[str, Header]] = {
    "": lambda call: f"functions.{call.name}:{call.number}",
    "short": lambda call: f"{call.name}:{call.number}",
    "safe": lambda call: f"functions_{call.name}_{call.number}",
    "number": lambda call: str(call.number),
}


def k2_markup(calls: Sequence[Call], grammar: str = "") -> str:
    """The section (or what is left of it) that makes these calls."""
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


def _k2_call(call: Call, grammar: str) -> str:
    header = HEADERS.get(grammar, HEADERS[""])(call)
    end = "" if grammar == "open" else CALL_END
    if grammar == "spaced":
        return f"{CALL_BEGIN} {header}\n {ARGUMENTS} \n{call.arguments} {end}"
    return f"{CALL_BEGIN}{header}{ARGUMENTS}{call.arguments}{end}"


def k3_markup(reasoning: str, text: str, calls: Sequence[Call], grammar: str = "") -> str:
    """A whole assistant message in XTML."""
    think = _element("think", reasoning) if reasoning else ""
    said = _element("response", text) if text else ""
    if not calls:
        return think + said
    tools = _element("tools", "".join(_k3_call(call, grammar) for call in calls))
    if grammar == "unclosed":
        tools = tools.removesuffix("<|sep|>")
    if grammar == "around":
        return f"<|open|>think<|sep|>{reasoning}{tools}<|close|>think<|sep|>{said}"
    return think + said + tools


def _k3_call(call: Call, grammar: str) -> str:
    arguments: JsonObject = loads(call.arguments)
    if grammar == "json":
        body = _element("json", call.arguments, 'type="object"')
    else:
        body = "".join(_argument(key, value) for key, value in arguments.items())
    return _element("call", body, f'tool="{_escaped(call.name)}" index="{call.position + 1}"')


def _argument(key: str, value: Any) -> str:
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
