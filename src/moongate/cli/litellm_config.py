"""A configuration of LiteLLM's proxy as one of moongate: each part is taken, or left out for a reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from moongate.cli.imported import AGENT, Imported, clean_name, is_kimi, object_or_empty, problem_of, text_of
from moongate.cli.litellm_router import import_router
from moongate.cli.provider_addresses import ADDRESSES
from moongate.payload import JsonObject

_NAMED: Final = frozenset({"api_base", "base_url", "api_key", "model", "weight", "extra_headers", "headers"})
# Of requests: LiteLLM sends them where the client has not set them itself.
_PARAMETERS: Final = (
    *("temperature", "top_p", "max_tokens", "max_completion_tokens", "frequency_penalty", "presence_penalty", "seed"),
    *("stop", "reasoning_effort", "thinking", "extra_body"),
)
_PRICES: Final = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cache_read",
    "cache_creation_input_token_cost": "cache_write",
}
_OTHER_PATHS: Final = {"embedding": "/v1/embeddings", "completion": "/v1/completions", "rerank": "/v1/rerank"}


@dataclass
class LiteLlmFile:
    """The file while it is read."""

    made: Imported
    providers: dict[tuple[str, str, str], JsonObject] = field(default_factory=dict)  # by address, key and headers
    targets: dict[str, list[JsonObject]] = field(default_factory=dict)  # by the name that clients ask for

    def provider(self, name: str, url: str, key: str, headers: JsonObject) -> JsonObject:
        found = self.providers.get(place := (url, key, repr(sorted(headers.items()))))
        if found is None:
            names = {each["name"] for each in self.providers.values()}
            free = next(
                each for n in range(1, len(names) + 2) if (each := name if n == 1 else f"{name}-{n}") not in names
            )
            found = {"name": free, "api_base_url": url, "models": []}
            found |= {"api_key": key} if key else {}
            found |= {"headers": headers} if headers else {}
            self.providers[place] = found | {"transformer": {}}
        return self.providers[place]


def import_litellm(given: JsonObject) -> Imported:
    """`model_list`, `router_settings`, `litellm_settings` and `general_settings.master_key`."""
    file = LiteLlmFile(Imported({"providers": []}))
    made, listed = file.made, given.get("model_list")
    for at, each in enumerate(listed if isinstance(listed, list) else ()):
        _deployment(object_or_empty(each), f"model_list[{at}]", file)
    made.config["providers"] = list(file.providers.values())
    import_router(given, file.targets, made)
    general = object_or_empty(given.get("general_settings"))
    made.set_key(secret(general.get("master_key")), "general_settings.master_key")
    made.leave_others(general, {"master_key"}, "general_settings.")
    made.leave_others(given, {"model_list", "router_settings", "litellm_settings", "general_settings"})
    return made


def secret(value: Any) -> str:
    """`os.environ/NAME` is `$NAME` here."""
    text = text_of(value)
    return f"${text.removeprefix('os.environ/')}" if text.startswith("os.environ/") else text


def _deployment(given: JsonObject, at: str, file: LiteLlmFile) -> None:
    params, made = object_or_empty(given.get("litellm_params")), file.made
    asked, sent = text_of(given.get("model_name")), text_of(params.get("model"))
    if not asked or not sent:
        made.left.append(f"{at}: a model needs model_name and litellm_params.model")
        return
    kind, _, model = sent.partition("/")
    base = secret(params.get("api_base") or params.get("base_url"))
    if not model or text_of(params.get("custom_llm_provider")):
        kind, model = text_of(params.get("custom_llm_provider")) or "openai", sent
    known = ADDRESSES.get(kind)
    reason = _hindrance(asked, sent, kind, base)
    if known is None or reason:
        made.left.append(f"{at} ({asked}): {reason}")
        return
    key = secret(params.get("api_key")) or ("" if base or not known.variable else f"${known.variable}")
    headers = {name: secret(value) for name, value in _headers(params).items() if secret(value)}
    asking: JsonObject = {"name": clean_name(kind), "api_base_url": base or known.url, "models": [sent]}
    asking |= {name: value for name, value in (("api_key", key), ("headers", headers)) if value}
    if reason := problem_of(asking | {"transformer": {"use": _parameters(params)}}):
        made.left.append(f"{at} ({asked}): {reason}")
        return
    if headers:
        made.taken.append(f"{at}: headers: {', '.join(headers)}")
    provider = file.provider(clean_name(kind), base or known.url, key, headers)
    info = object_or_empty(given.get("model_info"))
    _model(provider, model, params, info, at, made)
    if (mode := text_of(info.get("mode"))) in _OTHER_PATHS:
        path = _OTHER_PATHS[mode]
        provider["passthrough"] = list(dict.fromkeys([*provider.get("passthrough", ()), path]))
        made.taken.append(f"{at}: {path} of {provider['name']}, passed through")
        return
    target: JsonObject = {"model": f"{provider['name']},{model}"}
    if type(params.get("weight")) in (int, float) and params["weight"] > 0:
        target["weight"] = params["weight"]
    if all(each["model"] != target["model"] for each in file.targets.setdefault(asked, [])):
        file.targets[asked].append(target)
    made.taken.append(f"{at}: {asked} is {target['model']}")


def _hindrance(asked: str, sent: str, kind: str, base: str) -> str:
    """Why a model of this kind cannot be asked, "" if it can."""
    known = ADDRESSES.get(kind)
    if known is None:
        return f"{kind!r} is not asked by chat completions"
    if "*" in asked or "*" in sent:
        return "models are listed by their names"
    if not (base or known.url):
        return "it needs api_base"
    return f"an address is written out, {base} is not read" if base.startswith("$") else ""


def _headers(params: JsonObject) -> JsonObject:
    return {**object_or_empty(params.get("headers")), **object_or_empty(params.get("extra_headers"))}


def _parameters(params: JsonObject) -> list[Any]:
    """What is sent with each request, as steps of a chain."""
    sent = {name: params[name] for name in _PARAMETERS if params.get(name) is not None}
    sent |= object_or_empty(sent.pop("extra_body", None))
    return [["customparams", sent]] if sent else []


def _model(provider: JsonObject, model: str, params: JsonObject, info: JsonObject, at: str, made: Imported) -> None:
    """Add the model to its provider, with its price, and its chain."""
    made.leave_others(params, {*_NAMED, *_PARAMETERS, *_PRICES, "custom_llm_provider"}, f"{at}.litellm_params.")
    names = [each if isinstance(each, str) else each["name"] for each in provider["models"]]
    use = _parameters(params)
    sent = ", ".join(use[0][1]) if use else ""
    if model in names:
        if sent:
            made.left.append(f"{at}: parameters of a second entry for the same model: {sent}")
        return
    costs = {**params, **info}
    price = {ours: round(costs[name] * 1e6, 6) for name, ours in _PRICES.items() if _is_cost(costs.get(name))}
    is_priced = {"input", "output"} <= set(price)
    provider["models"].append({"name": model, "price": price} if is_priced else model)
    if price:
        (made.taken if is_priced else made.left).append(f"{at}: its price{'' if is_priced else ' needs both costs'}")
    if sent:
        made.taken.append(f"{at}: {sent}, where clients do not set them (customparams)")
    if is_kimi(model):
        use.append(AGENT)
        made.taken.append(f"{model}: a Kimi model, so Kimi with the preset agent is its transformer")
    if use:
        provider["transformer"][model] = {"use": use}


def _is_cost(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 0.1
