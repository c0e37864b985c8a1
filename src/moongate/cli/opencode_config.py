"""A configuration of OpenCode as one of moongate: each part is taken, or left out for a reason."""

from __future__ import annotations

import re
from typing import Any, Final

from moongate.cli.imported import AGENT, Imported, clean_name, is_kimi, object_or_empty, problem_of, text_of
from moongate.cli.provider_addresses import ADDRESSES, NamedAddress
from moongate.payload import JsonObject

# Packages whose providers are asked by chat completions.
_PACKAGES: Final = frozenset(
    {
        *("@ai-sdk/openai-compatible", "@openrouter/ai-sdk-provider", "@ai-sdk/groq", "@ai-sdk/deepseek"),
        *("@ai-sdk/togetherai", "@ai-sdk/fireworks", "@ai-sdk/cerebras", "@ai-sdk/openai"),
    }
)
_VARIABLE: Final = re.compile(r"\{env:([A-Za-z_][A-Za-z0-9_]{0,200})\}")
_FILE: Final = re.compile(r"\{file:([^}]{1,1000})\}")
_COSTS: Final = ("input", "output", "cache_read", "cache_write")


def import_opencode(given: JsonObject) -> Imported:
    """`provider`, `model` and `small_model`; all else is about the agent itself."""
    made = Imported({"providers": []})
    disabled = given.get("disabled_providers")
    for name, each in object_or_empty(given.get("provider")).items():
        if isinstance(disabled, list) and name in disabled:
            made.left.append(f"provider.{name}: it is disabled")
        else:
            _provider(name, object_or_empty(each), f"provider.{name}", made)
    _names(given, made)
    made.leave_others(given, {"$schema", "provider", "model", "small_model", "disabled_providers"})
    return made


def _provider(name: str, given: JsonObject, at: str, made: Imported) -> None:
    options, package = object_or_empty(given.get("options")), text_of(given.get("npm"))
    known = ADDRESSES.get(name, NamedAddress(""))
    url, models = text_of(options.get("baseURL")) or known.url, object_or_empty(given.get("models"))
    if package and package not in _PACKAGES:
        made.left.append(f"{at}: {package} does not speak chat completions")
    elif not url:
        made.left.append(f"{at}: it needs options.baseURL")
    elif not models:
        made.left.append(f"{at}: it lists no models")
    else:
        own = Imported({"name": clean_name(name), "api_base_url": url, "models": [], "transformer": {}})
        _take(own, options, models, known, at)
        is_second = any(each["name"] == own.config["name"] for each in made.config["providers"])
        if problem := "another provider has this name" if is_second else problem_of(own.config):
            made.left.append(f"{at}: {problem}")
            return
        made.taken += own.taken
        made.left += own.left
        made.config["providers"].append(own.config)


def _take(own: Imported, options: JsonObject, models: JsonObject, known: NamedAddress, at: str) -> None:
    """The key, the headers and the models of a provider."""
    if key := _secret(options.get("apiKey")) or (f"${known.variable}" if known.variable else ""):
        own.config["api_key"] = key
    if headers := {each: _secret(value) for each, value in object_or_empty(options.get("headers")).items()}:
        own.config["headers"] = {each: value for each, value in headers.items() if value}
    for model, about in models.items():
        _model(model, object_or_empty(about), own.config, f"{at}.models.{model}", own)
    own.leave_others(options, {"baseURL", "apiKey", "headers"}, f"{at}.options.")
    own.taken.append(f"{at}: {len(models)} model{'s' if len(models) > 1 else ''}")


def _model(name: str, given: JsonObject, provider: JsonObject, at: str, made: Imported) -> None:
    sent = text_of(given.get("id")) or name
    price = {each: cost for each in _COSTS if _is_cost(cost := object_or_empty(given.get("cost")).get(each))}
    model: JsonObject = {"name": sent}
    model |= {"alias": name} if sent != name else {}
    model |= {"price": price} if {"input", "output"} <= set(price) else {}
    provider["models"].append(model if len(model) > 1 else sent)
    if is_kimi(sent):
        provider["transformer"][sent] = {"use": [AGENT]}
        made.taken.append(f"{at}: a Kimi model, so Kimi with the preset agent is its transformer")
    if given.get("options"):
        made.left.append(f"{at}.options: they are the agent's, which sends them itself")


def _names(given: JsonObject, made: Imported) -> None:
    """The agent's model is the default, its small one has a name."""
    names = {
        f"{provider['name']}/{alias}": f"{provider['name']},{name}"
        for provider in made.config["providers"]
        for name, alias in map(_both_names, provider["models"])
    }
    for member in ("model", "small_model"):
        asked = text_of(given.get(member))
        if not asked:
            continue
        name, slash, model = asked.partition("/")
        target = names.get(f"{clean_name(name)}{slash}{model}")
        if target is None:
            made.left.append(f"{member}: {asked!r} is no model of a provider that was taken")
        elif member == "model":
            made.config["default"] = target
            made.taken.append(f"model: the default, {target}")
        else:
            made.config["aliases"] = {"small": target}
            made.taken.append(f"small_model: the name 'small', for clients to ask for: {target}")


def _both_names(model: Any) -> tuple[str, str]:
    if isinstance(model, str):
        return model, model
    return model["name"], model.get("alias", model["name"])


def _secret(value: Any) -> str:
    """`{env:NAME}` is `$NAME` here, `{file:PATH}` is `file:PATH`."""
    text = text_of(value)
    if found := _VARIABLE.fullmatch(text):
        return f"${found[1]}"
    return f"file:{found[1]}" if (found := _FILE.fullmatch(text)) else text


def _is_cost(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100_000
