"""How LiteLLM's proxy chooses among deployments: names, routes, fallbacks and retries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from moongate.cli.imported import Imported, object_or_empty
from moongate.gateway.config.route_settings import STRATEGY_OF
from moongate.payload import JsonObject

# There → here: the section and the name of a number.
_NUMBERS: Final = {
    "num_retries": ("retries", "retries", 0, 10),
    "allowed_fails": ("retries", "failures", 1, 1000),
    "cooldown_time": ("retries", "cool_down", 0.001, 86_400),
    "timeout": ("timeouts", "whole", 0.001, 86_400),
    "request_timeout": ("timeouts", "whole", 0.001, 86_400),
    "stream_timeout": ("timeouts", "first_event", 0.001, 86_400),
}
_LISTS: Final = ("fallbacks", "default_fallbacks")


def import_router(given: JsonObject, targets: Mapping[str, list[JsonObject]], made: Imported) -> None:
    """Names become aliases or, with several deployments, routes."""
    router, general = (object_or_empty(given.get(name)) for name in ("router_settings", "litellm_settings"))
    strategy = _strategy(router, made)
    aliases: dict[str, str] = {}
    routes: dict[str, JsonObject] = {}
    for name, found in targets.items():
        if taken := _other_model(name, found, made):
            made.left.append(f"{name}: here it is the name of {taken}; ask for {found[0]['model']}")
        elif len(found) > 1:
            routes[name] = {"targets": found, "strategy": strategy}
            made.taken.append(f"{name}: a route with {len(found)} targets, {strategy}")
        elif name != found[0]["model"].partition(",")[2]:
            aliases[name] = found[0]["model"]
    for name, to in object_or_empty(router.get("model_group_alias")).items():
        to = to.get("model") if isinstance(to, dict) else to
        if isinstance(to, str) and to in targets and name not in targets:
            aliases[name] = targets[to][0]["model"] if to not in routes else to
            made.taken.append(f"router_settings.model_group_alias: {name} is {to}")
        else:
            made.left.append(f"router_settings.model_group_alias: {name}: {to!r} is no model that was taken")
    made.config |= {name: value for name, value in (("aliases", aliases), ("routes", routes)) if value}
    for section, settings in (("router_settings", router), ("litellm_settings", general)):  # the first one wins
        _numbers(settings, section, made)
        for name in _LISTS:
            if not isinstance(settings.get(name, []), list):
                made.left.append(f"{section}.{name}: not a list")
            _fallbacks(settings.get(name), f"{section}.{name}", targets, made)
        known = {*_NUMBERS, *_LISTS} | ({"routing_strategy", "model_group_alias"} if settings is router else set())
        made.leave_others(settings, known, f"{section}.")


def _other_model(name: str, found: list[JsonObject], made: Imported) -> str:
    """The one model that has this name at its provider, if it is none of these."""
    pairs = [(each["name"], model) for each in made.config["providers"] for model in each["models"]]
    same = [f"{provider},{name}" for provider, model in pairs if name in (model, object_or_empty(model).get("name"))]
    return same[0] if len(same) == 1 and all(each["model"] != same[0] for each in found) else ""


def _strategy(router: JsonObject, made: Imported) -> str:
    given = router.get("routing_strategy", "simple-shuffle")
    found = STRATEGY_OF.get(given) if isinstance(given, str) else None
    if found is None:
        made.left.append(f"router_settings.routing_strategy: {given!r} has no counterpart: weighted")
        return "weighted"
    if "routing_strategy" in router:
        made.taken.append(f"router_settings.routing_strategy: {found}")
    return found


def _numbers(settings: JsonObject, at: str, made: Imported) -> None:
    for name, (section, ours, least, most) in _NUMBERS.items():
        value = settings.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            made.left.append(f"{at}.{name}: not a number from {least:g} to {most:g}")
            continue
        if ours in made.config.setdefault(section, {}):
            made.left.append(f"{at}.{name}: another setting says what {section}.{ours} is")
            continue
        made.config[section][ours] = int(value) if isinstance(least, int) else value
        made.taken.append(f"{at}.{name}: {section}.{ours}")


def _fallbacks(given: Any, at: str, targets: Mapping[str, list[JsonObject]], made: Imported) -> None:
    """The fallbacks of a name are those of each model behind it."""
    for name, others in _pairs(given, targets):
        others = [other for other in others if isinstance(other, str) and other != name]
        known = [each["model"] for other in others for each in targets.get(other, ())]
        own = [each["model"] for each in targets.get(name, ())]
        for unknown in (other for other in others if other not in targets):
            made.left.append(f"{at}: {unknown!r} is no model that was taken")
        if not own or not known:
            continue
        for target in own:
            made.add_fallbacks(target, [each for each in known if each != target])
        made.taken.append(f"{at}: {name} falls back to {', '.join(known)}")


def _pairs(given: Any, targets: Mapping[str, list[JsonObject]]) -> Iterator[tuple[str, list[Any]]]:
    """`[{name: [others]}]`, or a list of names for all."""
    for each in given if isinstance(given, list) else ():
        if isinstance(each, dict):
            yield from ((name, others) for name, others in each.items() if isinstance(others, list))
        elif isinstance(each, str):
            yield from ((name, [each]) for name in targets)
