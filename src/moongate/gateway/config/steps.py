"""All forms of `transformer.use`, normalised: a chain is a tuple of steps.

    "Kimi"      ["Kimi", {…}]      {"Kimi": {…}}      a list of these      {"use": …, "some-model": {"use": …}}

A model's own `use` is added to its provider's; a step that both have is taken from the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from moongate.errors import ConfigError
from moongate.gateway.config.places import ConfigPlace, ErrorCollector, json_type, suggest
from moongate.gateway.config.settings import Provider
from moongate.native.exchange import HasNativeRules
from moongate.payload import JsonObject
from moongate.pipeline.registry import known_name

_FORMS = 'expected "Name", ["Name", {options}] or {"Name": {options}}'


@dataclass(frozen=True, slots=True)
class Step:
    """One transformer of a chain, before it is built."""

    name: str
    options: JsonObject = field(default_factory=dict)
    at: ConfigPlace | None = field(default=None, compare=False, repr=False)  # where the options are


def chains_of(provider: Provider, known: Collection[str]) -> dict[str, tuple[Step, ...]]:
    """The steps of every model of a provider, by the model's name. Raises PartlyRead with what can be read."""
    assert provider.at is not None
    at = provider.at.child("transformer")
    shared: tuple[Step, ...] = ()
    own: dict[str, tuple[Step, ...]] = {}
    models = [model.name for model in provider.models]
    errors = ErrorCollector()
    for key, value in provider.transformer.items():
        if key == "use":
            for steps in errors.attempt(read_use, value, at.child("use"), known):
                shared = steps
        elif key not in models:
            message = f"neither 'use' nor a model of this provider: {key!r}{suggest(key, ['use', *models])}"
            errors.errors.append(at.child(key).error(message))
        else:
            for steps in errors.attempt(_model_use, value, at.child(key), known):
                own[key] = steps
    chains = {}
    for model in provider.models:
        steps = _overlay(shared, own.get(model.name, ()))
        chains[model.name] = steps
        if steps or not errors.errors:  # else the step that takes the options is one that cannot be read
            for found in errors.attempt(_with_options, steps, model.options, model.at):
                chains[model.name] = found
    errors.raise_collected(chains)
    return chains


def require_native(steps: Iterable[Step], transformers: Iterable[object], dialect: str) -> None:
    """Transformers work on chat completions, unless they have rules for other dialects."""
    for step, transformer in zip(steps, transformers, strict=True):
        if not isinstance(transformer, HasNativeRules):
            assert step.at is not None
            raise step.at.error(f"{step.name} works on chat completions, but the provider's dialect is {dialect!r}")


def read_use(value: object, at: ConfigPlace, known: Collection[str]) -> tuple[Step, ...]:
    """Read any form of `use`. Raises PartlyRead if some entries of a list are wrong."""
    if isinstance(value, str):
        return (_named(value, {}, at, at, known),)
    if isinstance(value, dict):
        return _from_object(value, at, known)
    if not isinstance(value, list):
        raise at.error(f"{_FORMS}, found {json_type(value)}")
    steps: list[Step] = []
    errors = ErrorCollector()
    read: list[tuple[Step, ...]] = []  # the previous entry; empty if it is wrong
    bare = False  # it is a name without options
    for index, entry in enumerate(value):
        here = at.child(index)
        if bare and isinstance(entry, dict) and not _is_step(entry, known):
            if read:
                steps[-1] = replace(steps[-1], options=entry, at=here)  # "use": ["Kimi", {options}]
            bare = False
            continue
        read = errors.attempt(_entry, entry, here, known)
        steps += [step for found in read for step in found]
        bare = isinstance(entry, str)
    errors.raise_collected(tuple(steps))
    return tuple(steps)


def _model_use(value: object, at: ConfigPlace, known: Collection[str]) -> tuple[Step, ...]:
    if not isinstance(value, dict) or "use" not in value:
        raise at.error('expected an object with its own "use"')
    for key in value:
        if key != "use":
            raise at.child(key).error(f"unknown setting {key!r}{suggest(key, ['use'])}")
    return read_use(value["use"], at.child("use"), known)


def _entry(entry: object, at: ConfigPlace, known: Collection[str]) -> tuple[Step, ...]:
    if isinstance(entry, str):
        return (_named(entry, {}, at, at, known),)
    if isinstance(entry, dict):
        return _from_object(entry, at, known)
    if not isinstance(entry, list) or not 1 <= len(entry) <= 2 or not isinstance(entry[0], str):
        raise at.error(f"{_FORMS}, found {json_type(entry)}")
    options = entry[1] if len(entry) == 2 else {}
    return (_named(entry[0], options, at.child(0), at.child(1), known),)


def _from_object(entry: JsonObject, at: ConfigPlace, known: Collection[str]) -> tuple[Step, ...]:
    if not entry:
        raise at.error(f"{_FORMS}, found an empty object")
    return tuple(_named(name, options, at.child(name), at.child(name), known) for name, options in entry.items())


def _named(name: str, options: object, at: ConfigPlace, options_at: ConfigPlace, known: Collection[str]) -> Step:
    found = known_name(name, known)
    if found is None:
        bare = name.lower().removesuffix("transformer")
        meant = next((each for each in known if each.lower() == bare), name)
        raise at.error(f"unknown transformer {name!r}{suggest(meant, known)}")
    if not isinstance(options, dict):
        raise options_at.error(f"expected an object with options, found {json_type(options)}")
    return Step(found, options, options_at)


def _is_step(entry: JsonObject, known: Collection[str]) -> bool:
    return any(known_name(key, known) is not None for key in entry)


def _overlay(shared: tuple[Step, ...], own: tuple[Step, ...]) -> tuple[Step, ...]:
    by_name: Mapping[str, Step] = {step.name: step for step in own}
    kept = [by_name.get(step.name, step) for step in shared]
    return (*kept, *(step for step in own if step.name not in {each.name for each in shared}))


def _with_options(steps: tuple[Step, ...], options: JsonObject, at: ConfigPlace | None) -> tuple[Step, ...]:
    if not options:
        return steps
    assert at is not None
    here = at.child("options")
    if not steps:
        raise here.error("options, but no transformer in the chain that could take them")
    first = replace(steps[0], options={**steps[0].options, **options}, at=here)
    return (first, *steps[1:])


def option_error(step: Step, error: ConfigError) -> ConfigError:
    """An error of a transformer about its options, with file and line."""
    assert step.at is not None
    return step.at.document.error(error.path or step.at.path, error.message)
