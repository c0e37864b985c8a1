"""Whether an answer is as a row of the contract says. Pure."""

from __future__ import annotations

from typing import Any, Final

from moongate.payload import JsonObject, loads

_REASONING: Final = ("reasoning_content", "reasoning")
_JSON_TYPES: Final[dict[str, tuple[type, ...]]] = {"string": (str,), "number": (int, float), "any": (object,)}


def broken_rules(expect: JsonObject, status: int, completion: JsonObject | None) -> list[str]:
    """What is not as expected; nothing if all is. What a row does not name is not looked at."""
    wanted = expect.get("status", 200)
    if wanted != 200:
        return [] if status == wanted else [f"status {status} instead of {wanted}"]
    if completion is None:
        return [f"status {status} instead of 200" if status != 200 else "no answer"]
    choices = completion.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    found = []
    if "finish_reason" in expect and choice.get("finish_reason") != expect["finish_reason"]:
        found.append(f"finish_reason {choice.get('finish_reason')!r} instead of {expect['finish_reason']!r}")
    found += _calls(expect.get("calls", {}), message)
    found += _content(expect.get("content", {}), message)
    if expect.get("reasoning", {}).get("present") is True and not any(name in message for name in _REASONING):
        found.append("no reasoning")
    if "usage" in expect and not isinstance(completion.get("usage"), dict):
        found.append("no usage at the top")
    return found


def _calls(expect: JsonObject, message: JsonObject) -> list[str]:
    given = message.get("tool_calls")
    calls = given if isinstance(given, list) else []
    names = [(call.get("function") or {}).get("name") for call in calls if isinstance(call, dict)]
    found = []
    if len(calls) < expect.get("min", 0):
        found.append(f"{len(calls)} calls instead of at least {expect['min']}")
    if len(calls) > expect.get("max", len(calls)):
        found.append(f"{len(calls)} calls instead of at most {expect['max']}")
    if "first_in" in expect and names and names[0] not in expect["first_in"]:
        found.append(f"a call of {names[0]!r} instead of {', '.join(expect['first_in'])}")
    if missing := [name for name in expect.get("include", ()) if name not in names]:
        found.append(f"no call of {', '.join(missing)}")
    return found


def _content(expect: JsonObject, message: JsonObject) -> list[str]:
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    found = []
    if (expect.get("nonempty") or expect.get("type") == "string") and not text:
        found.append("no text")
    wanted = expect.get("contains", ())
    for word in [wanted] if isinstance(wanted, str) else wanted:
        if word not in text:
            found.append(f"{word!r} is not in the text")
    found += [f"{word!r} is in the text" for word in expect.get("without", ()) if word in text]
    return found + (_json(expect, text) if "json" in expect else [])


def _json(expect: JsonObject, text: str) -> list[str]:
    try:
        value: Any = loads(text)
    except ValueError:
        return ["the text is not JSON"]
    if not isinstance(value, dict):
        return ["the text is no JSON object"]
    keys: JsonObject = expect.get("keys", {})
    missing = [key for key, kind in keys.items() if not isinstance(value.get(key), _JSON_TYPES.get(kind, (object,)))]
    absent = [key for key in keys if key not in value]
    return [f"the JSON has no fitting {key!r}" for key in dict.fromkeys([*absent, *missing])]
