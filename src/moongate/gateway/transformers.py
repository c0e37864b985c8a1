"""Transformers by name: built-in ones, those of the configuration, and installed ones (entry points).

Code is only loaded from where the configuration says: a module, a file, or an entry point of the group
`moongate.transformers` whose name is in a chain.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from moongate.chat.base import BaseTransformer
from moongate.chat.contracts import Transformer
from moongate.errors import ConfigError, ConfigErrors
from moongate.gateway.config.places import ConfigPlace, ErrorCollector
from moongate.gateway.config.settings import CustomTransformer
from moongate.gateway.config.steps import Step, option_error
from moongate.payload import JsonObject
from moongate.pipeline.chain import Chain
from moongate.pipeline.registry import PLAIN_TRANSFORMERS, TRANSFORMERS
from moongate.switches import FAST
from moongate.transformers.table import GENERIC

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

BUILT_IN: Final = TRANSFORMERS if FAST else PLAIN_TRANSFORMERS
GROUP: Final = "moongate.transformers"
PLACEHOLDER: Final = "CustomTransformer"  # in the well-known example configuration; does nothing


@dataclass(frozen=True)
class Transformers:
    """Builds transformers from their names. Behaves as a collection of the names."""

    custom: Mapping[str, Callable[..., Any]]
    defaults: Mapping[str, JsonObject]
    given: Mapping[str, EntryPoint] | None = None  # instead of the installed ones

    @classmethod
    def load(cls, declared: Sequence[CustomTransformer], folder: Path) -> Transformers:
        custom: dict[str, Callable[..., Any]] = {}
        defaults: dict[str, JsonObject] = {}
        for each in declared:
            assert each.at is not None
            found = _load(each.path, folder, each.at)
            name = each.name or getattr(found, "__name__", each.path)
            if name in custom or (name in BUILT_IN and name not in GENERIC):  # one of your own replaces a generic one
                raise each.at.error(f"a second transformer named {name!r}")
            custom[name], defaults[name] = found, each.options
        return cls(custom, defaults)

    @cached_property
    def installed(self) -> Mapping[str, EntryPoint]:
        """The installed entry points; only needed for names that nothing else defines, because the look-up is slow."""
        if self.given is not None:
            return self.given
        from importlib.metadata import entry_points

        return {each.name: each for each in entry_points(group=GROUP)}

    def __contains__(self, name: object) -> bool:
        return name in BUILT_IN or name in self.custom or name == PLACEHOLDER or name in self.installed

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*BUILT_IN, *self.custom, *self.installed, PLACEHOLDER)))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def chain(self, steps: Sequence[Step], model: str, base_url: str) -> Chain:
        errors = ErrorCollector()
        built = [each for step in steps for each in errors.attempt(self._build, step, model, base_url)]
        errors.raise_collected()
        return Chain(built)

    def _build(self, step: Step, model: str, base_url: str) -> Transformer:
        assert step.at is not None
        try:
            if step.name in self.custom:
                options = {**self.defaults[step.name], **step.options}
                return _construct(self.custom[step.name], options, model, base_url, step.at)
            if step.name in BUILT_IN:
                return _built_in(step, model, base_url)
            if step.name != PLACEHOLDER and step.name in self.installed:
                made = _import(lambda: self.installed[step.name].load(), step.at)
                return _construct(made, step.options, model, base_url, step.at)
        except ConfigErrors as several:
            raise ConfigErrors([option_error(step, each) for each in several.errors]) from None
        except ConfigError as error:
            raise error if step.at.document.file in error.path else option_error(step, error) from None
        return BaseTransformer()


def _built_in(step: Step, model: str, base_url: str) -> Transformer:
    """Without each option that is refused, tried again: a person sees all that are wrong at once."""
    assert step.at is not None
    options, errors = dict(step.options), ErrorCollector()
    while True:
        try:
            made = BUILT_IN[step.name](options, model=model, base_url=base_url, path=step.at.path)
            break
        except ConfigError as error:
            errors.errors.append(error)
            words = re.split(r"\W+", error.path.removeprefix(step.at.path))
            wrong = next((key for key in options if key in words), None)
            if wrong is None:
                break
            del options[wrong]
    errors.raise_collected()
    return made


def _construct(
    factory: Callable[..., Any], options: JsonObject, model: str, base_url: str, at: ConfigPlace
) -> Transformer:
    """`from_config(options, model=…, base_url=…)` if the class has it, else the options as keyword arguments."""
    from_config = getattr(factory, "from_config", None)
    try:
        made = from_config(options, model=model, base_url=base_url) if callable(from_config) else factory(**options)
    except ConfigErrors as several:
        raise ConfigErrors([_placed(each, at) for each in several.errors]) from None
    except ConfigError as error:
        raise _placed(error, at) from None
    except Exception as error:  # third-party code may raise anything
        raise at.error(f"cannot be built: {type(error).__name__}: {error}") from None
    if not callable(getattr(made, "begin", None)):
        raise at.error(f"{type(made).__name__} is not a transformer: it has no begin(request)")
    return made  # type: ignore[no-any-return]


def _placed(error: ConfigError, at: ConfigPlace) -> ConfigError:
    """An error about options: the path in it begins at them."""
    return ConfigError(error.message, path=f"{at.path}.{error.path}") if error.path else error


def _load(path: str, folder: Path, at: ConfigPlace) -> Callable[..., Any]:
    """From `module:Class`, `file.py:Class`, or `file.py` with exactly one transformer in it."""
    place, _, name = path.partition(":")
    if place.endswith(".py"):
        module = _import(lambda: _module_of(folder / Path(place).expanduser()), at)
    else:
        module = _import(lambda: importlib.import_module(place), at)
    if not name:
        return _only_transformer(module, at)
    found = getattr(module, name, None)
    if not callable(found):
        raise at.error(f"{place} has no class {name!r}")
    return found  # type: ignore[no-any-return]


def _module_of(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"moongate_custom_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their own module
    spec.loader.exec_module(module)
    return module


def _only_transformer(module: Any, at: ConfigPlace) -> Callable[..., Any]:
    found = [
        value
        for value in vars(module).values()
        if inspect.isclass(value) and value.__module__ == module.__name__ and hasattr(value, "begin")
    ]
    if len(found) != 1:
        raise at.error(f"expected one class with begin(request) in it, found {len(found)}: say which, as FILE:CLASS")
    return found[0]


def _import(load: Callable[[], Any], at: ConfigPlace) -> Any:
    try:
        return load()
    except Exception as error:  # a third-party module may raise anything
        raise at.error(f"cannot be loaded: {type(error).__name__}: {error}") from None
