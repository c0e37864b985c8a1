"""A configuration of claude-code-router as one of moongate: each part is taken, or left out for a reason."""

from __future__ import annotations

from typing import Any, Final

from moongate.cli.imported import AGENT, Imported, clean_name, is_kimi, object_or_empty, problem_of
from moongate.gateway.config.load import MIN_KEY_CHARS, is_loopback
from moongate.payload import JsonObject
from moongate.transformers.table import generic_name

# Transformers that only adapt to a host which speaks chat completions.
_ADAPTERS: Final = frozenset({"openrouter", "deepseek", "groq", "openai", "cerebras", "vercel", "glm"})
_LIMITS: Final = {"deepseek": 8192, "glm": 128_000}  # to which adapters lower `max_tokens`
# A transformer that stands alone and leaves requests as they are: the end of its address, the dialect, the front.
_DIALECTS: Final = {
    "anthropic": ("/messages", "anthropic", "messages"),
    "openai-responses": ("/responses", "responses", "responses"),
}
# Its documentation has two spellings of a provider.
_MEMBERS: Final = {"NAME": "name", "HOST": "api_base_url", "APIKEY": "api_key", "MODELS": "models"}
_RULES: Final = ("think", "longContext", "webSearch", "image")


def import_ccr(given: JsonObject) -> Imported:
    """`Providers`, `Router`, `APIKEY`, `HOST`, `PORT`, `PROXY_URL`; other settings have no counterpart."""
    made = Imported({"providers": []})
    listed = given.get("Providers", given.get("providers"))
    for at, each in enumerate(listed if isinstance(listed, list) else ()):
        _provider(each if isinstance(each, dict) else {}, f"Providers[{at}]", given.get("PROXY_URL"), made)
    made.set_key(given.get("APIKEY"), "APIKEY")
    _address(given, made)
    router, names = object_or_empty(given.get("Router")), _names(made)
    _router(router, names, made)
    _fallbacks(object_or_empty(given.get("fallback")), router, names, made)
    made.leave_others(given, {"Providers", "providers", "Router", "fallback", "APIKEY", "HOST", "PORT", "PROXY_URL"})
    return made


def _address(given: JsonObject, made: Imported) -> None:
    """Where it listens: for other machines only with a key that cannot be guessed."""
    key, host, port = given.get("APIKEY"), given.get("HOST"), given.get("PORT")
    if isinstance(host, str) and host:
        is_safe = isinstance(key, str) and (key.startswith("$") or len(key) >= MIN_KEY_CHARS)
        if is_safe or is_loopback(host):
            made.config["host"] = host
            made.taken.append(f"HOST: {host}")
        else:
            without = f"a key of at least {MIN_KEY_CHARS} characters"
            made.left.append(f"HOST: {host} would serve other machines without {without}: set api_keys and host")
    number = int(port) if isinstance(port, str) and port.isdecimal() and len(port) < 6 else port
    if type(number) is int and 0 < number < 65536:
        made.config["port"] = number
        made.taken.append(f"PORT: {number}")
    elif port is not None:
        made.left.append(f"PORT: {port!r} is not a number from 1 to 65535")


def _provider(given: JsonObject, at: str, proxy: Any, made: Imported) -> None:
    given = {_MEMBERS.get(name, name): value for name, value in given.items()}
    listed = given.get("models")
    every = [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
    models = list(dict.fromkeys(every))
    name, url = clean_name(str(given.get("name") or "")), given.get("api_base_url")
    if not name or not models or not isinstance(url, str):
        made.left.append(f"{at}: a provider needs name, api_base_url and models")
        return
    own = Imported({"name": name, "api_base_url": url, "models": models})
    own.taken.append(f"{at}: provider {name} with {len(models)} model{'s' if len(models) > 1 else ''}")
    own.left += [f"{at}.models: {each!r} is no name" for each in given["models"] if not isinstance(each, str)]
    own.left += [f"{at}.models: {each!r} is listed twice" for each in models if every.count(each) > 1]
    own.leave_others(given, {*_MEMBERS.values(), "transformer"}, f"{at}.")
    key = given.get("api_key")
    if isinstance(key, str) and key:
        own.config["api_key"] = key
    elif key:
        own.left.append(f"{at}.api_key: not a text")
    if isinstance(proxy, str) and proxy.startswith("http://"):
        own.config["proxy"] = proxy
        own.taken.append(f"PROXY_URL: the proxy of {name}")
    elif proxy:
        own.left.append(f"PROXY_URL: {name} is asked without it: a proxy is named by http://")
    transformer = given.get("transformer")
    problem = _transformers(transformer if isinstance(transformer, dict) else {}, at, own)
    if any(each["name"] == name for each in made.config["providers"]):
        problem = "another provider has this name"
    if problem := problem or problem_of(own.config):
        made.left.append(f"{at} ({name}): {problem}")
        return
    made.taken += own.taken
    made.left += own.left
    made.config["providers"].append(own.config)


def _transformers(chains: JsonObject, at: str, own: Imported) -> str:
    """The chains of a provider, or its dialect; why it cannot be served, "" if it can."""
    names = [name for use in _uses(chains) for name, _ in use]
    end, dialect, front = _DIALECTS.get(_folded(names[0]) if len(names) == 1 else "", ("", "", ""))
    if dialect and own.config["api_base_url"].rstrip("/").endswith(end):
        own.config["dialect"] = dialect
        own.taken.append(f"{at}.transformer.use: {names[0]}: the dialect, for clients of the {front} front")
        chains, names = {}, []
    foreign = [name for name in names if _kind(name) == "foreign"]
    if foreign and not any(_is_kimi_transformer(name) for name in names):
        return f"needs the transformer {foreign[0]!r}: it does not speak chat completions"
    own.config["transformer"] = _chains(chains, own.config["models"], f"{at}.transformer", own)
    return ""


def _uses(chains: JsonObject) -> list[list[tuple[str, JsonObject]]]:
    owners = [chains, *(each for each in chains.values() if isinstance(each, dict))]
    return [_steps(each.get("use")) for each in owners]


def _steps(use: Any) -> list[tuple[str, JsonObject]]:
    steps: list[tuple[str, JsonObject]] = []
    for each in [use] if isinstance(use, str) else use if isinstance(use, list) else ():
        if isinstance(each, str):
            steps.append((each, {}))
        elif isinstance(each, list) and each and isinstance(each[0], str):
            steps.append((each[0], each[1] if len(each) > 1 and isinstance(each[1], dict) else {}))
    return steps


def _kind(name: str) -> str:
    """What becomes of a transformer: generic, Kimi's, an adapter that is not needed, or one of another wire format."""
    if generic_name(name) is not None or _is_kimi_transformer(name):
        return "known"
    return "adapter" if _folded(name) in _ADAPTERS else "foreign"


def _is_kimi_transformer(name: str) -> bool:
    return _folded(name) == "kimi"


def _folded(name: str) -> str:
    return name.lower().removesuffix("transformer")


def _chains(given: JsonObject, models: list[str], at: str, made: Imported) -> JsonObject:
    """The chains of a provider; a Kimi model without Kimi's transformer gets it."""
    shared = _use(given.get("use"), f"{at}.use", made)
    chains: JsonObject = {"use": shared} if shared else {}
    for model in models:
        own = given.get(model)
        use = _use(own.get("use"), f"{at}.{model}", made) if isinstance(own, dict) else []
        _add_shared_parameters(use, shared)
        if is_kimi(model) and "Kimi" not in [step[0] for step in (*shared, *use)]:
            use.append(AGENT)
            made.taken.append(f"{model}: a Kimi model, so Kimi with the preset agent is added to its chain")
        if use:
            chains[model] = {"use": use}
    made.left += [f"{at}.{name}: no model of this provider" for name in given if name != "use" and name not in models]
    return chains


def _add_shared_parameters(use: list[Any], shared: list[Any]) -> None:
    """There the provider's chain runs as well as the model's; here the model's `customparams` runs in its place."""
    common = {name: value for step, options in shared if step == "customparams" for name, value in options.items()}
    for at, (step, options) in enumerate(use):
        if step == "customparams" and common:
            use[at] = [step, {**common, **options}]


def _use(given: Any, at: str, made: Imported) -> list[Any]:
    use: list[Any] = []
    for name, options in _steps(given):
        generic = generic_name(name)
        if generic is not None:
            use.append([generic, options])
            made.taken.append(f"{at}: {name}")
        elif _kind(name) == "known":
            use.append(["Kimi", options])
            made.taken.append(f"{at}: {name}")
        elif isinstance(options.get("provider"), dict):
            use.append(["customparams", {"provider": options["provider"]}])
            made.taken.append(f"{at}: the option provider of {name}, as customparams")
        elif _folded(name) in _LIMITS:
            use.append(["maxtoken", {"max_tokens": _LIMITS[_folded(name)]}])
            made.taken.append(f"{at}: {name}, as the limit of tokens that it sets: maxtoken {_LIMITS[_folded(name)]}")
        elif _kind(name) == "foreign":  # beside Kimi, which reads chat completions
            made.left.append(f"{at}: {name} is a plugin of another server: docs/write-a-transformer.md")
        else:
            made.left.append(f"{at}: {name} is not needed: chat completions are sent as the host takes them")
    return use


def _names(made: Imported) -> set[str]:
    return {f"{each['name']},{model}" for each in made.config["providers"] for model in each["models"]}


def _target(given: Any) -> str:
    """`provider,model` as it is named here, "" if that is not what it says."""
    provider, comma, model = given.partition(",") if isinstance(given, str) else ("", "", "")
    return f"{clean_name(provider)}{comma}{model}"


def _router(router: JsonObject, names: set[str], made: Imported) -> None:
    """`default` and `background` by the names that Claude Code asks for; other rules as names for clients."""
    aliases: dict[str, str] = {}
    for rule in ("background", "default", *_RULES):
        target = _target(router.get(rule))
        if not target:
            continue
        if target not in names:
            made.left.append(f"Router.{rule}: {target!r} is no model of a provider that was taken")
        elif rule == "default":
            aliases["claude-*"] = made.config["default"] = target
            made.taken.append(f"Router.default: the default, and what claude-* means: {target}")
        elif rule == "background":
            aliases["claude-*haiku*"] = target
            made.taken.append(f"Router.background: what claude-*haiku* means: {target}")
        else:
            aliases[rule] = target
            made.taken.append(f"Router.{rule}: the name {rule!r}, for clients to ask for: {target}")
            made.left.append(f"Router.{rule}: models are not chosen by what a request holds")
    made.leave_others(router, {"background", "default", *_RULES}, "Router.")
    if aliases:
        made.config["aliases"] = aliases


def _fallbacks(fallback: JsonObject, router: JsonObject, names: set[str], made: Imported) -> None:
    """The models behind each rule's own one."""
    for rule, listed in fallback.items():
        target, others = _target(router.get(rule)), list[str]()
        for other in map(_target, listed if isinstance(listed, list) else ()):
            if other not in names:
                made.left.append(f"fallback.{rule}: {other!r} is no model of a provider that was taken")
            elif other != target:
                others.append(other)
        if target in names and others:
            made.add_fallbacks(target, others)
            made.taken.append(f"fallback.{rule}: {target} falls back to {', '.join(others)}")
        elif others:
            made.left.append(f"fallback.{rule}: nothing was taken of Router.{rule}")
